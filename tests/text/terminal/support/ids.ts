/** The ids of the pictures; none may ever be broken. */
export const IDS = [1, 2, 3, 4, 5].map((at) => `${at}f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d`);

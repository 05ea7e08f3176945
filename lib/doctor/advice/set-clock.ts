/** What sets the clock of a host right. */
export const SET_CLOCK = "timedatectl set-ntp true";

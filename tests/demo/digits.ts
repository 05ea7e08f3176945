/** The digits of a phone number, as the gateway has it. */
export function digitsOf(phone: string): string {
  return phone.replace(/\D/g, "");
}

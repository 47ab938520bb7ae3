/** Dollars, with cents. @param digits behind the point */
export function usd(value: number, digits = 2): string {
  return `$${value.toFixed(digits)}`;
}

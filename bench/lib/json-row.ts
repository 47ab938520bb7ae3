/** The request of the JSON benchmarks: one row of 1,000 floats with all their digits. */
export function jsonRow(): Buffer {
  const row = Array.from({ length: 1_000 }, (_, index) => Math.fround(Math.sin(index + 1)));
  return Buffer.from(JSON.stringify({ instances: [row] }));
}

export * from './families.ts';
export * from './instance-type.ts';
export * from './prices.ts';
export * from './sizes.ts';

/** What the command line and the page share: the description of a model, and how answers are read for people. */
export { elementText } from './answer/binary.ts';
export { type Box, boxesOfJson } from './answer/boxes.ts';
export { areShares, barOf, type Classes, classesOf, type ScoredClass } from './answer/classes.ts';
export { figure } from './answer/statistics.ts';
export type * from './description.ts';

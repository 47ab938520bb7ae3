import { ServingError } from '../errors.ts';

/** Why the models did not change: what was served before is served on. */
export class NothingChanged extends ServingError {}

/** The serving runtime as a library: for the command line and for generated documentation. */
export { requestMediaTypes, responseMediaTypes } from './codecs/registry.ts';
export { type Environment, readEnvironment } from './environment.ts';
export { ENVIRONMENT_VARIABLES, type VariableDefinition } from './environment-variables.ts';
export { type ErrorCode, ServingError, START_ERRORS, StartError } from './errors.ts';
export { REQUEST_ATTRIBUTES, RESPONSE_ATTRIBUTES, ROUTES } from './http/route-table.ts';
export { chooseModels } from './models/choose-models.ts';
export { type Runtime, type RuntimeOptions, startRuntime } from './runtime.ts';

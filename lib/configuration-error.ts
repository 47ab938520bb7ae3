/** A configuration that cannot be deployed. `bin/app.js` prints its message, without a stack. */
export class ConfigurationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConfigurationError';
  }
}

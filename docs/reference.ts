/** The reference tables of the docs, made from the code that implements them. */
import {
  ENVIRONMENT_VARIABLES,
  REQUEST_ATTRIBUTES,
  RESPONSE_ATTRIBUTES,
  ROUTES,
  requestMediaTypes,
  responseMediaTypes,
  type VariableDefinition,
} from '@sagemaker-tfs/container';
import { RETIRED_VARIABLES } from '@sagemaker-tfs/container/environment-variables';
import { table } from '../tools/table.ts';

/** Text of `docs/reference.md`. */
export function referenceText(): string {
  return `# The container

Generated from the code by \`npm run docs\`; a test keeps it true.

## Routes

${table(
  ['method', 'path', 'where', 'meaning'],
  ROUTES.map(({ method, path, where, description }) => [method, `\`${path}\``, where, description]),
)}

## Custom attributes of a request (\`X-Amzn-SageMaker-Custom-Attributes\`)

${attributes(REQUEST_ATTRIBUTES)}

## Custom attributes of a response

${attributes(RESPONSE_ATTRIBUTES)}

## Request media types (\`Content-Type\`)

${list(requestMediaTypes())}

## Response media types (\`Accept\`)

${list(responseMediaTypes())}

## Environment variables

${table(['variable', 'type', 'default', 'meaning'], ENVIRONMENT_VARIABLES.map(variable))}

Variables of AWS's Python container that mean nothing here:

${table(['variable', 'instead'], Object.entries(RETIRED_VARIABLES))}

## Errors

Every error is JSON: \`{"error": "what was wrong, where, and what to do", "code": "..."}\`.

[All codes](errors.md), of the container and of everything else.
`;
}

function attributes(
  definitions: readonly { readonly name: string; readonly description: string }[],
): string {
  return table(
    ['attribute', 'meaning'],
    definitions.map(({ name, description }) => [`\`${name}\``, description]),
  );
}

function variable({
  name,
  type,
  default: value,
  choices,
  minimum,
  maximum,
  description,
}: VariableDefinition) {
  const range =
    minimum === undefined && maximum === undefined
      ? ''
      : ` (${minimum ?? 0} to ${maximum ?? 'any'})`;
  const kind = choices ? choices.map((choice) => `\`${choice}\``).join(', ') : `${type}${range}`;
  return [`\`${name}\``, kind, value === undefined ? '' : `\`${value}\``, description];
}

function list(mediaTypes: readonly string[]): string {
  return mediaTypes.map((mediaType) => `- \`${mediaType}\``).join('\n');
}

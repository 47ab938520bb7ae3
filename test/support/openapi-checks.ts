/** What an OpenAPI document says of bodies in JSON. */
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Problems that the document's schemas find in a text of JSON; none if it fits. */
export interface OpenApiChecks {
  request(text: string): readonly unknown[];
  answer(text: string): readonly unknown[];
}

/** Checks by the schemas of `/invocations`. */
export function openApiChecks(document: object): OpenApiChecks {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: 'document' });
  const post = 'document#/paths/~1invocations/post';
  const check = (at: string) => {
    const validate = ajv.compile({ $ref: `${post}/${at}/content/application~1json/schema` });
    return (text: string) => (validate(finiteJson(text)) ? [] : (validate.errors ?? []));
  };
  return { request: check('requestBody'), answer: check('responses/200') };
}

/** The value, with 0 for the bare words of TensorFlow Serving: JSON lacks them. */
export function finiteJson(text: string): unknown {
  return JSON.parse(text.replace(/-?\b(NaN|Infinity)\b/g, '0'));
}

/**
 * TensorFlow Serving's model config: as the text file that it starts from (protobuf text format of
 * tensorflow_serving.ModelServerConfig).
 */
import type { ServedModel } from '../models/served-model.ts';

/** The text of `--model_config_file`. Every version named is served. */
export function modelConfigText(models: readonly ServedModel[]): string {
  return `model_config_list {\n${models.map(modelText).join('')}}\n`;
}

function modelText(model: ServedModel): string {
  return [
    '  config {',
    `    name: ${quoted(model.name)}`,
    `    base_path: ${quoted(model.basePath)}`,
    '    model_platform: "tensorflow"',
    '    model_version_policy {',
    '      specific {',
    ...model.versions.map((version) => `        versions: ${version}`),
    '      }',
    '    }',
    ...Object.entries(model.labels ?? {}).map(
      ([label, version]) => `    version_labels { key: ${quoted(label)} value: ${version} }`,
    ),
    '  }\n',
  ].join('\n');
}

/** A string literal of the protobuf text format; bytes outside printable ASCII are octal escapes. */
function quoted(text: string): string {
  const escaped = [...Buffer.from(text, 'utf8')].map((byte) => {
    const character = String.fromCharCode(byte);
    if (character === '"' || character === '\\') return `\\${character}`;
    if (byte >= 0x20 && byte < 0x7f) return character;
    return `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${escaped.join('')}"`;
}

/** Writes what was found into `serving.config.ts`, without touching what else stands there, or into a JSON file. */
import { readFile } from 'node:fs/promises';
import { generateCode, parseModule } from 'magicast';
import { CommandError, cannotRead, usageError } from '../errors.ts';
import { placeOf } from '../output/place.ts';
import { replaceWhole } from '../output/write-whole.ts';
import { type Point, variablesOf } from './point.ts';

/** Settings in the terms of the configuration. */
interface TunedSettings {
  readonly maxConcurrentTransforms: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** What a knee means for a configuration. */
export function settingsOf({ concurrency = 1, server }: Point): TunedSettings {
  return {
    maxConcurrentTransforms: concurrency,
    environment: {
      ...(server && variablesOf(server)),
      SAGEMAKER_TFS_MAX_CONCURRENT_TRANSFORMS: String(concurrency),
    },
  };
}

/**
 * Puts settings into a model of a configuration: its `environment`, and `maxConcurrentTransforms` of its `batch`.
 * A file that ends in `.json` holds the settings alone.
 * @param model its name. Default: the only one.
 * @throws CommandError USAGE, FILE_NOT_FOUND, CONFIG_NOT_WRITTEN, OUTPUT_FAILED
 */
export async function writeSettings(
  file: string,
  settings: TunedSettings,
  model?: string,
): Promise<void> {
  const place = await placeOf(file);
  const text = file.endsWith('.json')
    ? `${JSON.stringify(settings, null, 2)}\n`
    : edited(await readFile(place, 'utf8').catch(cannotRead(file)), file, settings, model);
  await replaceWhole(place, text);
}

/** Parts of a configuration that are written to. */
interface ConfigModel {
  environment?: Record<string, string>;
  batch?: { maxConcurrentTransforms?: number };
}

function edited(
  source: string,
  file: string,
  settings: TunedSettings,
  name: string | undefined,
): string {
  try {
    const module = parseModule(source);
    const exported = module.exports.default;
    const config = exported.$type === 'function-call' ? exported.$args[0] : exported;
    const models = config.models as Record<string, ConfigModel>;
    const model = models[chosen(Object.keys(models), name)] as ConfigModel;
    model.environment ??= {};
    for (const [variable, value] of Object.entries(settings.environment)) {
      model.environment[variable] = value;
    }
    if (model.batch) model.batch.maxConcurrentTransforms = settings.maxConcurrentTransforms;
    return `${generateCode(module).code.trimEnd()}\n`;
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(
      'CONFIG_NOT_WRITTEN',
      `${file} is not export default defineConfig({ models: { ... } }). Write a .json file instead.`,
      { cause },
    );
  }
}

function chosen(names: readonly string[], name: string | undefined): string {
  const [only] = names;
  if (name !== undefined && names.includes(name)) return name;
  if (name === undefined && names.length === 1 && only) return only;
  throw usageError(`several models could be meant. Give --name, one of ${names.join(', ')}.`);
}

/** Text for `--model_config_file`. */
/** One model of a configuration; `more` is further text of its `config`. */
interface ConfiguredModel {
  readonly name: string;
  readonly basePath: string;
  readonly more?: string;
}

/** The text of a ModelServerConfig. */
export function modelConfigText(models: readonly ConfiguredModel[]): string {
  const configs = models.map(
    ({ name, basePath, more = '' }) =>
      `  config { name: '${name}' base_path: '${basePath}' model_platform: "tensorflow" ${more} }\n`,
  );
  return `model_config_list {\n${configs.join('')}}\n`;
}

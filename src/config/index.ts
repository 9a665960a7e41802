export { defaultConfig, settingVariables } from "./default-config.ts";
export { type DescribedSetting, describeChosen, describeConfig, explainState } from "./describe.ts";
export { type ConfigSources, type InvalidConfig, type LoadedConfig, loadConfig, type Origin } from "./load.ts";
export type { YamlFile } from "./read-yaml.ts";
export type { Config } from "./schema.ts";
export { Secret } from "./secret.ts";

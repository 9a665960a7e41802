/**
 * How an incident appears on a channel.
 *
 * - `notices`: each notice by itself, for programs and logs. Incidents are neither collected nor resolved.
 * - `messages`: the service can neither edit nor thread. An incident is its first message, later ones only if a person
 *   must act, and the resolution.
 * - `thread`: an incident is one thread. Each notice is a reply, and so is the resolution.
 * - `alert`: an incident is one alert, opened and updated by warnings and critical notices, and resolved.
 */
export type ChannelStyle = "notices" | "messages" | "thread" | "alert";

import { type DeclaredKind, declaredKinds } from "../declared-kinds.ts";
import { optional } from "../setting.ts";

export const kinds = {
  declared: optional<readonly DeclaredKind[]>({
    kind: declaredKinds(),
    isPolicy: true,
    about:
      "Kinds of objects that have no CustomResourceDefinition, such as those of aggregated APIs, so that targets, rules and pauses can name them. A kind that is built in is refused; where a CustomResourceDefinition defines the same kind, the definition counts.",
  }),
};

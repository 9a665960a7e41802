import type { TestContext } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Why a test does not apply to the cluster of TEST_KUBECONFIG. */
    notApplicable?: string;
  }
}

/** Ends a test that does not apply to the cluster of TEST_KUBECONFIG. It is listed with its reason; any other skip is a failure. */
export function notApplicable(test: TestContext, reason: string): never {
  test.task.meta.notApplicable = reason;
  return test.skip(reason);
}

import { z } from "zod";
import { controlOf } from "../lib/control/operation.ts";
import type { Recorder } from "./recorder.ts";
import { scenarioSchema } from "./scenario.ts";

const defineControl = controlOf<{ recorder: Recorder }>();

const startBody = z.strictObject({ title: z.string().min(1).max(200) }).meta({ id: "StartRecording" });

const recordingSchema = z
  .object({
    recording: z.boolean(),
    steps: z
      .int()
      .nullable()
      .meta({ description: "The number of recorded steps; null if nothing is recorded." }),
  })
  .meta({ id: "Recording" });

const errors = ["scenario_refused"] as const;
const page = { target: "scenarios.md", words: "scenarios" };

const readRecording = defineControl({
  id: "readRecording",
  method: "get",
  path: "/scenario",
  tag: "Scenarios",
  summary: "Returns whether a scenario is being recorded.",
  success: { status: 200, description: "Whether a scenario is being recorded.", schema: recordingSchema },
  recorded: false,
  handle: ({ sandbox: { recorder } }) => ({ recording: recorder.steps !== null, steps: recorder.steps }),
});

const startRecording = defineControl({
  id: "startRecording",
  method: "post",
  path: "/scenario",
  tag: "Scenarios",
  summary: "Starts the recording of a scenario.",
  page,
  body: startBody,
  example: { title: "A refund after a claim" },
  success: { status: 201, description: "The recording has started.", schema: recordingSchema },
  errors,
  recorded: false,
  needsOwnChain: true,
  async handle({ sandbox, body: { title } }) {
    await sandbox.recorder.start(title);
    return { recording: true, steps: 0 };
  },
});

const stopRecording = defineControl({
  id: "stopRecording",
  method: "delete",
  path: "/scenario",
  tag: "Scenarios",
  summary: "Ends the recording and returns the scenario.",
  success: {
    status: 200,
    description: "The scenario.",
    schema: scenarioSchema.meta({ id: "Scenario" }),
  },
  errors,
  recorded: false,
  needsOwnChain: true,
  handle: async ({ sandbox }) => await sandbox.recorder.stop(),
});

/** The operations that record a scenario. */
export const scenarioOperations = [readRecording, startRecording, stopRecording];

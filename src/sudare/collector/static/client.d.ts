export interface Answers {
  labels: string[];
  attribute: unknown;
  places?: [number, number][];
  degrees?: Record<string, number>;
}

export interface Encoding {
  encoding: string;
  size: number;
  epsilon: string;
  first?: string;
  buckets?: number;
}

/** Thresholds of coins, as 32 hexadecimal digits. */
export interface Law {
  kind: "unary" | "permanent" | "response";
  own?: string;
  other?: string;
  flip?: string;
  change?: string;
}

/** What `GET /survey` says, as far as a device needs it. */
export interface Survey {
  survey: string;
  name: string;
  title: string;
  question: string;
  account: string;
  identity: string;
  epsilon: number;
  report_bytes: number;
  answers: Answers | { questions: ({ name: string; question: string } & Answers)[] };
  encoding: Encoding | { encoding: "several"; questions: ({ name: string } & Encoding)[] };
  law: Law | { kind: "several"; parts: Law[] } | null;
  shuffler?: string;
  rounds?: { series: string; number: number; of: number; changes: number };
  translations: Record<string, Texts>;
}

export interface Texts {
  title?: string;
  question?: string;
  labels?: string[];
  questions?: Record<string, Texts>;
}

/** Where reports, permanent answers and the account are kept: text by key, for as long as the device lives. */
export interface Memory {
  get(key: string): string | null;
  set(key: string, text: string): void;
}

export interface Terms {
  cost: number;
  times: number;
  counted: boolean;
  spent: number;
  most: number;
  year: number;
}

export interface Options {
  memory?: Memory;
  fetch?: typeof fetch;
  key?: string | null;
  now?: () => number;
  mostEpsilon?: number;
  mostAYear?: number;
}

export const MOST_EPSILON: number;
export const MOST_A_YEAR: number;

export class ClientError extends Error {
  kind: string;
}

export class Client {
  constructor(url?: string, options?: Options);
  survey(): Promise<Survey>;
  state(survey: Survey): "open" | "waiting" | "answered";
  spent(): number;
  terms(survey: Survey): Terms;
  refusal(survey: Survey): ClientError | null;
  answer(survey: Survey, answer: number | number[]): Promise<string>;
  forget(survey: Survey): void;
}

export function costOf(survey: Survey): number;
export function epsilonOf(survey: Survey): number;
export function marked(survey: Survey, report: string): number[][];
export function checkIdentity(survey: Survey): Promise<void>;
export function answerAt(answers: Answers, latitude: number, longitude: number): number | null;

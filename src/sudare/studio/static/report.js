// The way to the report of a release, alone in its tab. The address names its file behind the #, which no server sees.

import { complain } from "./notices.js";
import { addressOf } from "./releases.js";

const file = new URLSearchParams(location.hash.slice(1)).get("file") ?? "";
addressOf(file).then((address) => location.replace(address), complain);

// The published schemas of OpenAI's events (openai.schema.json, a part of openai/openai-openapi, MIT).
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';

const doc = JSON.parse(readFileSync(new URL('./openai.schema.json', import.meta.url)));
// The published schema allows null nowhere, although the service sends it; the other keywords are OpenAPI's own.
const normalise = (o) => {
  if (!o || typeof o !== 'object') return;
  if (typeof o.nullable === 'boolean' && !o.type) delete o.nullable;
  if (o.discriminator && typeof o.discriminator === 'object') delete o.discriminator;
  if (Array.isArray(o.oneOf)) { o.anyOf = o.oneOf; delete o.oneOf; }
  Object.values(o).forEach(normalise);
};
normalise(doc.components.schemas);
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false });
ajv.addSchema(doc, 'oa');

function names(union) {
  const byType = {};
  for (const { $ref } of doc.components.schemas[union]?.anyOf ?? []) {
    const name = $ref.split('/').pop();
    const type = doc.components.schemas[name].properties.type;
    byType[type.const ?? type.enum[0]] = name;
  }
  return byType;
}
export const serverEvents = names('RealtimeServerEvent');
export const clientEvents = names('RealtimeClientEvent');

const noNulls = (o) => {
  if (Array.isArray(o)) return o.map(noNulls);
  if (!o || typeof o !== 'object') return o;
  return Object.fromEntries(Object.entries(o).filter(([, v]) => v !== null).map(([k, v]) => [k, noNulls(v)]));
};
// Why the event is not valid; '' when it is.
export function invalid(event, byType) {
  if (!byType[event.type]) return `${event.type} is no such event`;
  if (ajv.validate(`oa#/components/schemas/${byType[event.type]}`, noNulls(event))) return '';
  return `${event.type}: ${ajv.errors.slice(0, 3).map((e) => `${e.instancePath} ${e.message}`).join('; ')}`;
}

/**
 * The keys of Home Assistant's MQTT discovery of the components that this product uses, their types, and which are
 * required: `homeassistant/components/mqtt/` of github.com/home-assistant/core. Home Assistant ignores other keys; here they
 * are faults. Each file at its commit:
 * - `number.py`, `sensor.py`: 12e9414247f8af0a604ca15d262c2de8b2da5b90
 * - `config.py`: 459c79f295fd592fc7b235e4bcb5a6a3d160754e
 * - `schemas.py`: c6ca7f5f416326437e8e652a5623aa5eff7b3d00
 * - `binary_sensor.py`: 121590832b463474eb8766daa04e6a099a568a9e
 * - `switch.py`: 20dc1b2cd44bc70ecfbeadbe48e9cd43b5611d24
 * - `button.py`: 1ecdb9be82be2596c8145d2cf9a3ca3c6daf8d2a
 * - `notify.py`: 78247e60bf4b2fdbe338fcf26c4bac931efd7fd6
 * - `image.py`: 02e6124621fb9f465aa7e4b8d96ba2435be35abc
 */
import { z } from 'zod';

/** util.py, `valid_topic`; ours have no wildcards. */
const topic = z
  .string()
  .min(1)
  .max(65_535)
  .regex(/^[^+#\p{Cc}\p{Noncharacter_Code_Point}]+$/u);
const text = z.string();
const template = z.string();

const device = z
  .strictObject({
    identifiers: z.array(text).min(1).optional(),
    connections: z
      .array(z.tuple([text, text]))
      .min(1)
      .optional(),
    manufacturer: text.optional(),
    model: text.optional(),
    model_id: text.optional(),
    name: text.optional(),
    hw_version: text.optional(),
    serial_number: text.optional(),
    sw_version: text.optional(),
    via_device: text.optional(),
    suggested_area: text.optional(),
    configuration_url: z.url({ protocol: /^(https?|homeassistant)$/ }).optional(),
  })
  .refine(({ identifiers, connections }) => identifiers !== undefined || connections !== undefined);

const payloads = { payload_available: text.optional(), payload_not_available: text.optional() };

/** config.py, MQTT_BASE_SCHEMA; schemas.py, MQTT_ENTITY_COMMON_SCHEMA. */
const common = {
  qos: z.literal([0, 1, 2]).optional(),
  encoding: text.optional(),
  group: z.array(text).optional(),
  // Without them an entity would be available while the box or its display is away.
  availability: z.array(z.strictObject({ topic, ...payloads, value_template: template.optional() })).min(2),
  availability_mode: z.enum(['all', 'any', 'latest']).optional(),
  ...payloads,
  device,
  origin: z.strictObject({ name: text, sw_version: text.optional(), support_url: z.url().optional() }),
  enabled_by_default: z.boolean().optional(),
  entity_category: z.enum(['config', 'diagnostic']).optional(),
  icon: z
    .string()
    .regex(/^[\w-]+:[\w-]+$/)
    .optional(),
  json_attributes_topic: topic.optional(),
  json_attributes_template: template.optional(),
  object_id: text.optional(),
  // Optional there; without it an entity of a device cannot be renamed or removed.
  unique_id: text,
  name: text.nullable().optional(),
};
/** MQTT_RO_SCHEMA. */
const reads = { ...common, state_topic: topic, value_template: template.optional() };
/** MQTT_RW_SCHEMA. */
const writes = {
  ...common,
  command_topic: topic,
  optimistic: z.boolean().optional(),
  retain: z.boolean().optional(),
  state_topic: topic.optional(),
};
const orders = {
  ...common,
  command_topic: topic,
  command_template: template.optional(),
  retain: z.boolean().optional(),
};

const components: Readonly<Record<string, z.ZodType>> = {
  binary_sensor: z.strictObject({
    ...reads,
    device_class: z.enum(['connectivity']).optional(),
    expire_after: z.int().nonnegative().optional(),
    force_update: z.boolean().optional(),
    off_delay: z.int().nonnegative().optional(),
    payload_off: text.optional(),
    payload_on: text.optional(),
  }),
  sensor: z
    .strictObject({
      ...reads,
      device_class: z.enum(['enum']).nullable().optional(),
      expire_after: z.int().nonnegative().optional(),
      force_update: z.boolean().optional(),
      last_reset_value_template: template.optional(),
      options: z.array(text).min(1).optional(),
      suggested_display_precision: z.int().nonnegative().optional(),
      state_class: text.nullable().optional(),
      unit_of_measurement: text.nullable().optional(),
    })
    // Options need the class enum, and take neither a unit nor a state class.
    .refine(({ options, device_class }) => options === undefined || device_class === 'enum')
    .refine(
      ({ options, unit_of_measurement, state_class }) =>
        options === undefined || (unit_of_measurement ?? state_class) == null,
    ),
  switch: z.strictObject({
    ...writes,
    device_class: text.optional(),
    payload_off: text.optional(),
    payload_on: text.optional(),
    state_off: text.optional(),
    state_on: text.optional(),
    value_template: template.optional(),
  }),
  number: z
    .strictObject({
      ...writes,
      command_template: template.optional(),
      device_class: text.nullable().optional(),
      max: z.number().optional(),
      min: z.number().optional(),
      mode: z.enum(['auto', 'box', 'slider']).optional(),
      payload_reset: text.optional(),
      step: z.number().min(0.001).optional(),
      unit_of_measurement: text.nullable().optional(),
      value_template: template.optional(),
    })
    .refine(({ min = 1, max = 100 }) => min <= max),
  button: z.strictObject({ ...orders, device_class: text.nullable().optional(), payload_press: text.optional() }),
  notify: z.strictObject(orders),
  image: z
    .strictObject({
      ...common,
      content_type: text.optional(),
      image_topic: topic.optional(),
      image_encoding: z.literal('b64').optional(),
      url_topic: topic.optional(),
      url_template: template.optional(),
    })
    .refine(({ image_topic, url_topic }) => (image_topic === undefined) !== (url_topic === undefined))
    .refine(({ content_type, url_topic }) => content_type === undefined || url_topic === undefined),
};

/** discovery.py, TOPIC_MATCHER. */
const configTopic = /^homeassistant\/(\w+)\/([a-zA-Z0-9_-]+)\/([a-zA-Z0-9_-]+)\/config$/;

/** What Home Assistant would refuse, or ignore because it does not know it. */
export const faultsOf = (configs: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(configs).flatMap(([name, config]) => {
    const schema = components[configTopic.exec(name)?.[1] ?? ''];
    if (schema === undefined) return [`${name}: no such component`];
    return (schema.safeParse(config).error?.issues ?? []).map(
      ({ path, message }) => `${name} ${path.join('.')}: ${message}`,
    );
  });

/** Whether an entity is available, as Home Assistant decides. */
export const isAvailable = (config: Readonly<Record<string, unknown>>, kept: ReadonlyMap<string, string>): boolean => {
  const topics = (config['availability'] as { topic: string }[]).map((each) => each.topic);
  return topics.every((each) => kept.get(each) === 'online');
};

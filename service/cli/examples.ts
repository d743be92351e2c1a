/** Examples in the help of the commands. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';

/** By command; the empty name: the help of the program itself. */
const examples: Readonly<Record<string, readonly string[]>> = {
  '': [
    'signage discover',
    'signage screens --box http://192.168.1.20:8080',
    'signage content push content.json',
    'signage health --all',
  ],
  show: ['signage show lobby --watch'],
  send: [
    'signage send lobby refresh',
    'signage send tag:public blackout --on',
    'signage send all blackout --off --yes',
    'signage send lobby redirect --url https://example.com/',
  ],
  onboard: ['signage onboard 4K7Q-M3X9-FT2W-D0AZ lobby --name "Front door"'],
  content: [
    'signage content pull content.json',
    'signage content diff content.json',
    'signage content push content.json --yes',
    'signage content revert 9f86d081',
  ],
  drafts: ['signage drafts list', 'signage drafts show easter', 'signage drafts publish easter --yes'],
  protect: ['sudo signage protect', 'sudo signage protect --secret-stdin < secret'],
  media: ['signage media put *.jpg film.mp4', 'signage media delete film.mp4'],
  screenshot: ['signage screenshot lobby', 'signage screenshot all --json', 'signage screenshot lobby -o now.jpg'],
  takeover: [
    'signage takeover start all --title "Please leave the building" --for 30m --level emergency',
    'signage takeover start lobby --media menu.jpg --from 18:00 --for 2h',
    'signage takeover end menu-3f2a1c',
  ],
  message: ['signage message start fire', 'signage message end fire'],
  trigger: [
    'signage trigger add "Fire panel" --show fire --target all',
    'signage trigger add "Lunch bell" --play lunch --for 45m --target tag:canteen',
    'curl -X POST https://192.168.1.20:8443/api/triggers/9c1e6f0b7a2d4853b1c0e9f8a7d6c5b4',
  ],
  secrets: ['signage secrets set dash --origin https://dash.example.com < token', 'signage secrets list'],
  devices: ['signage devices forget 4K7Q-M3X9-FT2W-D0AZ'],
  box: ['signage box lobby-box identify', 'signage box lobby-box volume 40', 'signage box lobby-box display-off'],
  backup: ['sudo signage --box http://127.0.0.1:8080 backup lobby.tar'],
  ca: ['signage ca', 'signage ca renew'],
  join: ["signage join 'https://192.168.1.20:8443/console#join=maria.ABCDEFGHIJKLMNOPQRSTUVWXYZ'"],
  people: [
    'signage people add maria --role publisher --tag lobby',
    'signage people invite maria',
    'signage people disable maria',
  ],
  keys: ['signage keys list'],
  log: ['signage log lobby-box --follow'],
  health: ['signage health --all --json'],
  plays: ['signage plays export --from 2026-11-01 --to 2026-12-01 > november.csv'],
  audit: ['signage audit --from 2026-11-22 --who Ada'],
  fleet: [
    'signage fleet status --fleet tls://hub.example.com:4222',
    'signage fleet push content.json vienna graz',
    'signage fleet rollout content.json --phases 1,10,100 --wait 10m',
  ],
  mcp: ['signage mcp --box http://192.168.1.20:8080', 'signage mcp --allow-draft'],
  completion: ['source <(signage completion bash)'],
};

/** Where the packages have the guide; else it is that of a checkout. */
const packaged = ['signage-player', 'signage-player-headless'].map((name) => `/usr/share/doc/${name}/guide`);
const folder = packaged.find((path) => existsSync(path)) ?? 'resources/guide';
const guide = `Guide: ${folder}/operating.md; symptoms and exit codes: ${folder}/troubleshooting.md`;

/** Adds the examples to the help of each command, and the place of the guide to that of the program. */
export const addExamples = (program: Command): void => {
  for (const [name, lines] of Object.entries(examples)) {
    const command = name === '' ? program : program.commands.find((each) => each.name() === name);
    const more = name === '' ? `\n\n${guide}` : '';
    command?.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}${more}`);
  }
};

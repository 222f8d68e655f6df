import { execFile } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const HARDHAT = join(ROOT, "node_modules", "hardhat", "dist", "src", "cli.js");

/** A contract, and a test that loads it from its artifact, as the project's tests do. */
const answer = (value: number) => `// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

contract Answer {
    uint256 public constant value = ${value};
}
`;
const answerTest = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Vm {
    function getCode(string calldata artifact) external view returns (bytes memory);
}

interface IAnswer {
    function value() external view returns (uint256);
}

contract AnswerTest {
    Vm private constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function test_theAnswerIsOne() public {
        bytes memory code = vm.getCode("Answer");
        address deployed;
        assembly ("memory-safe") {
            deployed := create(0, add(code, 0x20), mload(code))
        }
        require(IAnswer(deployed).value() == 1, "another answer");
    }
}
`;

/** Runs the Solidity tests of a checkout: those of the files that are named, or all. */
async function runTests(
  checkout: string,
  ...files: string[]
): Promise<{ code: number | null; output: string }> {
  return await new Promise((resolve) => {
    const args = [HARDHAT, "test", "solidity", ...files];
    const child = execFile(process.execPath, args, { cwd: checkout }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, output: stdout + stderr }),
    );
  });
}

test("a single Solidity test file runs against the contracts as they are now", async () => {
  const checkout = await temporaryFolder();
  for (const part of ["hardhat.config.ts", "package.json"]) await cp(join(ROOT, part), join(checkout, part));
  await symlink(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  await mkdir(join(checkout, "contracts", "test"), { recursive: true });
  await writeFile(join(checkout, "contracts", "Answer.sol"), answer(1));
  await writeFile(join(checkout, "contracts", "test", "Answer.t.sol"), answerTest);
  const before = await runTests(checkout);
  expect(before.output).toContain("✔ test_theAnswerIsOne()");
  expect(before.code).toBe(0);

  await writeFile(join(checkout, "contracts", "Answer.sol"), answer(2));
  const after = await runTests(checkout, join("contracts", "test", "Answer.t.sol"));
  expect(after.output).toContain("1) test_theAnswerIsOne()");
  expect(after.output).toContain("another answer");
  expect(after.code).toBe(1);
  // Hardhat starts and compiles twice, which takes a busy machine more than a minute.
}, 180_000);

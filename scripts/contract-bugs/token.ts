import type { ContractBug } from "./contract-bug.ts";

/** Bugs in the test USDC. */
export const token: readonly ContractBug[] = [
  {
    rule: "The EIP-712 domain has the name, not the symbol.",
    find: "keccak256(bytes(name)), keccak256(bytes(VERSION))",
    replace: "keccak256(bytes(symbol)), keccak256(bytes(VERSION))",
  },
  {
    rule: "The EIP-712 domain follows the chain id.",
    find: "keccak256(bytes(VERSION)), block.chainid, address(this)",
    replace: "keccak256(bytes(VERSION)), 31337, address(this)",
  },
  {
    rule: "A permit uses the holder's nonce, not the spender's.",
    find: "nonces[holder]++",
    replace: "nonces[spender]++",
  },
  {
    rule: "An infinite allowance is spent.",
    find: "allowance[from][msg.sender] = allowed - value;",
    replace: "allowance[from][msg.sender] = allowed == type(uint256).max ? allowed : allowed - value;",
  },
  {
    rule: "The allowance is asked for before the balance.",
    find: 'require(value <= allowed, "ERC20: transfer amount exceeds allowance");\n        _transfer(from, to, value);',
    replace:
      '_transfer(from, to, value);\n        require(value <= allowed, "ERC20: transfer amount exceeds allowance");',
  },
  {
    rule: "A blocked account can approve.",
    find: "function approve(address spender, uint256 value) external whenNotPaused returns",
    replace:
      "function approve(address spender, uint256 value) external whenNotPaused notBlacklisted(msg.sender) returns",
  },
  {
    rule: "A blocked account keeps its balance.",
    find: "_balances[account] |= BLOCKED;",
    replace: "_balances[account] = BLOCKED;",
  },
  {
    rule: "An unblocked account has its balance back.",
    find: "_balances[account] &= ~BLOCKED;",
    replace: "_balances[account] = 0;",
  },
  {
    rule: "Minting asks for the pause before the minter.",
    find: "        whenNotPaused\n        onlyMinters\n",
    replace: "        onlyMinters\n        whenNotPaused\n",
  },
  {
    rule: "Configuring a minter asks for the pause before the master minter.",
    find: "        whenNotPaused\n        onlyMasterMinter\n",
    replace: "        onlyMasterMinter\n        whenNotPaused\n",
  },
  {
    rule: "A minter is removed during a pause too.",
    find: "function removeMinter(address minter) external onlyMasterMinter",
    replace: "function removeMinter(address minter) external whenNotPaused onlyMasterMinter",
  },
  {
    rule: "A rescue takes any answer but zero as true.",
    find: "abi.decode(answer, (uint256)) != 0",
    replace: "abi.decode(answer, (uint256)) == 1",
  },
  {
    rule: "The event of an ownership transfer names the previous owner first.",
    find: "emit OwnershipTransferred(owner, newOwner);",
    replace: "emit OwnershipTransferred(newOwner, owner);",
  },
  {
    rule: "The payee is asked for before the authorization's times.",
    find: 'require(to == msg.sender, "FiatTokenV2: caller must be the payee");\n        _requireValidAuthorization(from, nonce, validAfter, validBefore);',
    replace:
      '_requireValidAuthorization(from, nonce, validAfter, validBefore);\n        require(to == msg.sender, "FiatTokenV2: caller must be the payee");',
  },
  {
    rule: "A cancellation counts for its authorizer, not for the caller.",
    find: "authorizationState[authorizer][nonce] = true;\n        emit AuthorizationCanceled",
    replace: "authorizationState[msg.sender][nonce] = true;\n        emit AuthorizationCanceled",
  },
];

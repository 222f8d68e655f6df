import type { ContractBug } from "./contract-bug.ts";

const check = "if (!SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature)) {";

/** A signature of 65 bytes as `ecrecover` reads it. */
const recovered = (digest = "digest", v = "uint8(signature[64])") =>
  `ecrecover(${digest}, ${v}, bytes32(signature[0:32]), bytes32(signature[32:64]))`;

/** Accepts also what meets a condition, which reads the signature only if it has 64 bytes at least. */
const alsoIf = (condition: string): Pick<ContractBug, "find" | "replace"> => ({
  find: check,
  replace: `if (!(signature.length > 63 && ${condition}) && ${check.slice("if (".length)}`,
});

const s = "uint256(bytes32(signature[32:64]))";
const halfOrder = "0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0";
const domainOf = (chain: string, contract: string) =>
  `keccak256(abi.encode(keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"), keccak256("PurchaseRegistrar"), keccak256("1"), ${chain}, ${contract}))`;
const fixedChain = (structHash: string): Pick<ContractBug, "find" | "replace"> => ({
  find: `return _hashTypedDataV4(${structHash});`,
  replace: `return keccak256(abi.encodePacked(hex"1901", ${domainOf("uint256(31337)", "address(this)")}, ${structHash}));`,
});

/** Bugs in the form of signatures, and in who signs. */
export const signatureForms: readonly ContractBug[] = [
  {
    rule: "A program without a commitment signer has no valid signature, though ecrecover answers zero.",
    ...alsoIf(`signature.length == 65 && signer == address(0) && ${recovered()} == signer`),
  },
  {
    rule: "A program without a commitment signer has no valid signature, and an empty one is none.",
    find: check,
    replace: `if (!(signature.length == 0 && signer == address(0)) && ${check.slice("if (".length)}`,
  },
  {
    rule: "No merchant enrolls without a commitment signer, though ecrecover answers zero.",
    find: "_requireSigned(program, record, digest, signature);",
    replace: `if (signature.length != 65 || record.admin == address(0) || record.commitmentSigner != address(0) || ${recovered()} != address(0)) _requireSigned(program, record, digest, signature);`,
  },
  {
    rule: "No merchant enrolls in a program that is not open, though ecrecover answers zero.",
    find: "_requireSigned(program, record, digest, signature);",
    replace: `if (signature.length != 65 || record.admin != address(0) || ${recovered()} != address(0)) _requireSigned(program, record, digest, signature);`,
  },
  {
    rule: "No purchase is offered without a commitment signer, though ecrecover answers zero.",
    find: "_requireSigned(program, record, id, signature);",
    replace: `if (signature.length != 65 || route == Route.Direct || record.commitmentSigner != address(0) || ${recovered("id")} != address(0)) _requireSigned(program, record, id, signature);`,
  },
  {
    rule: "No purchase is registered without a commitment signer, though ecrecover answers zero.",
    find: "_requireSigned(program, record, id, signature);",
    replace: `if (signature.length != 65 || route == Route.Offer || record.commitmentSigner != address(0) || ${recovered("id")} != address(0)) _requireSigned(program, record, id, signature);`,
  },
  {
    rule: "A signature has a low s.",
    ...alsoIf(
      `signature.length == 65 && signer.code.length == 0 && ${s} > ${halfOrder} && ${recovered()} == signer && signer != address(0)`,
    ),
  },
  {
    rule: "A signature of an offer has a low s.",
    find: "_requireSigned(program, record, id, signature);",
    replace: `if (signature.length != 65 || route == Route.Direct || ${s} <= ${halfOrder} || ${recovered("id")} != record.commitmentSigner) _requireSigned(program, record, id, signature);`,
  },
  {
    rule: "A signature is not compact (EIP-2098).",
    ...alsoIf(
      `signature.length == 64 && signer != address(0) && ecrecover(digest, uint8(${s} >> 255) + 27, bytes32(signature[0:32]), bytes32(${s} & (type(uint256).max >> 1))) == signer`,
    ),
  },
  {
    rule: "A signature has a v of 27 or 28, not of 0 or 1.",
    ...alsoIf(
      `signature.length == 65 && signer != address(0) && uint8(signature[64]) < 2 && ${recovered("digest", "uint8(signature[64]) + 27")} == signer`,
    ),
  },
  {
    rule: "A signature has 65 bytes, and none after them.",
    ...alsoIf(`signature.length > 65 && signer != address(0) && ${recovered()} == signer`),
  },
  {
    rule: "A signature of a registration has no word after its 65 bytes.",
    find: "_requireSigned(program, record, id, signature);",
    replace: `if (signature.length != 97 || route == Route.Offer || ${recovered("id")} != record.commitmentSigner) _requireSigned(program, record, id, signature);`,
  },
  {
    rule: "An enrollment is not signed with personal_sign.",
    find: "_requireSigned(program, record, digest, signature);",
    replace: `if (signature.length != 65 || record.commitmentSigner == address(0) || ${recovered('keccak256(abi.encodePacked("\\x19Ethereum Signed Message:\\n32", digest))')} != record.commitmentSigner) _requireSigned(program, record, digest, signature);`,
  },
  {
    rule: "The key of a commitment signer with code signs nothing.",
    ...alsoIf(`signature.length == 65 && signer.code.length != 0 && ${recovered()} == signer`),
  },
  {
    rule: "A contract signs only with its magic value.",
    find: check,
    replace: `if (signer.code.length != 0) {
            (bool ok, bytes memory answer) = signer.staticcall(abi.encodeWithSelector(0x1626ba7e, digest, signature));
            if (ok && answer.length > 31 && bytes32(answer) != 0 && bytes4(answer) != 0xffffffff) return;
        }
        ${check}`,
  },
  {
    rule: "A contract's magic value has no other bytes after it.",
    find: check,
    replace: `if (signer.code.length != 0) {
            (bool ok, bytes memory answer) = signer.staticcall(abi.encodeWithSelector(0x1626ba7e, digest, signature));
            if (ok && answer.length > 31 && bytes4(answer) == 0x1626ba7e) return;
        }
        ${check}`,
  },
  {
    rule: "A commitment for the same contract on another chain is none here.",
    ...alsoIf(
      `signature.length == 65 && signer != address(0) && msg.sig == this.register.selector && ${recovered(`keccak256(abi.encodePacked(hex"1901", ${domainOf("uint256(1)", "address(this)")}, keccak256(abi.encode(PURCHASE_TYPEHASH, abi.decode(msg.data[4:], (Purchase))))))`)} == signer`,
    ),
  },
  {
    rule: "The digest of a purchase has the chain id of today.",
    ...fixedChain("keccak256(abi.encode(PURCHASE_TYPEHASH, purchase_))"),
  },
  {
    rule: "The digest of a funding has the chain id of today.",
    ...fixedChain("keccak256(abi.encode(FUNDING_TYPEHASH, authorization))"),
  },
  {
    rule: "The digest of a claim has the chain id of today.",
    ...fixedChain("keccak256(abi.encode(CLAIM_TYPEHASH, claimData))"),
  },
];

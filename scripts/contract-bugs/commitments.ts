import type { ContractBug } from "./contract-bug.ts";

/** Bugs in new purchases, by both routes. */
export const commitments: readonly ContractBug[] = [
  {
    rule: "Only the merchant registers, not the buyer.",
    find: "_requireCaller(purchase_.merchant);",
    replace: "_requireCaller(purchase_.buyer);",
  },
  {
    rule: "A registration is found by its buyer.",
    find: "emit PurchaseRegistered(id, purchase_.program, purchase_.buyer, 1, purchase_);",
    replace: "emit PurchaseRegistered(id, purchase_.program, purchase_.beneficiary, 1, purchase_);",
  },
  {
    rule: "An offer is found by its buyer.",
    find: "emit PurchaseOffered(id, purchase_.program, purchase_.buyer, 1, purchase_);",
    replace: "emit PurchaseOffered(id, purchase_.program, purchase_.beneficiary, 1, purchase_);",
  },
  {
    rule: "Open offers never wrap around the largest budget.",
    find: "if (openOffers + amount > openBudget) {",
    replace: "if (uint128(openOffers + amount) > openBudget) {",
  },
  {
    rule: "A refused offer says what is left of the budget.",
    find: "Math.saturatingSub(openBudget, openOffers)",
    replace: "openBudget",
  },
  {
    rule: "A registration uses no budget.",
    find: "id = _commit(_programs[purchase_.program], purchase_, signature, Route.Direct);",
    replace:
      "id = _commit(_programs[purchase_.program], purchase_, signature, Route.Direct); _programs[purchase_.program].openOffers += uint128(purchase_.amount);",
  },
  {
    rule: "A registration has no largest amount but the cap.",
    find: "_requireAmount(purchase_.amount, MAX_AMOUNT);",
    replace: "_requireAmount(purchase_.amount, record.maxPurchase);",
  },
  {
    rule: "A buyer can be its own beneficiary.",
    find: "if (merchant == purchase_.buyer || merchant == purchase_.beneficiary) revert",
    replace:
      "if (merchant == purchase_.buyer || merchant == purchase_.beneficiary || purchase_.buyer == purchase_.beneficiary) revert",
  },
  {
    rule: "A purchase comes on chain by its offer deadline, not by its pay deadline.",
    find: "_requireWithin(purchase_.offerDeadline);",
    replace: "_requireWithin(purchase_.payDeadline);",
  },
  {
    rule: "A funding lasts until the claim deadline at least.",
    find: "if (source.validUntil < purchase_.claimDeadline) {",
    replace: "if (source.validUntil < purchase_.payDeadline) {",
  },
  {
    rule: "The cap leaves the whole amount.",
    find: "_requireRemaining(source, purchase_.amount);",
    replace: "_requireRemaining(source, 1);",
  },
  {
    rule: "A commitment names its buyer before its beneficiary.",
    find: "address buyer,address beneficiary,address token,uint256 amount,bytes32 termsHash",
    replace: "address beneficiary,address buyer,address token,uint256 amount,bytes32 termsHash",
  },
  {
    rule: "The EIP-712 domain has version 1.",
    find: 'EIP712("PurchaseRegistrar", "1")',
    replace: 'EIP712("PurchaseRegistrar", "2")',
  },
  {
    rule: "The pay deadline is the purchase's own.",
    find: "payDeadline: purchase_.payDeadline,",
    replace: "payDeadline: purchase_.claimDeadline,",
  },
  {
    rule: "A commitment signer can be a contract.",
    find: "if (!SignatureChecker.isValidSignatureNowCalldata(",
    replace: "if (signer.code.length != 0 || !SignatureChecker.isValidSignatureNowCalldata(",
  },
];

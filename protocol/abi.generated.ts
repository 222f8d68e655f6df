export const purchaseRegistrarAbi = [
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "registrar",
    "type": "address"
   },
   {
    "indexed": false,
    "internalType": "address",
    "name": "commitmentSigner",
    "type": "address"
   },
   {
    "components": [
     {
      "internalType": "uint256",
      "name": "maxPurchase",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "openBudget",
      "type": "uint256"
     },
     {
      "internalType": "uint64",
      "name": "validUntil",
      "type": "uint64"
     }
    ],
    "indexed": false,
    "internalType": "struct IPurchaseRegistrar.Bounds",
    "name": "bounds",
    "type": "tuple"
   }
  ],
  "name": "BoundsSet",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "merchantRef",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "wallet",
    "type": "address"
   },
   {
    "indexed": false,
    "internalType": "address",
    "name": "token",
    "type": "address"
   },
   {
    "indexed": false,
    "internalType": "uint256",
    "name": "cap",
    "type": "uint256"
   },
   {
    "indexed": false,
    "internalType": "uint64",
    "name": "validUntil",
    "type": "uint64"
   },
   {
    "indexed": false,
    "internalType": "bytes32",
    "name": "authorization",
    "type": "bytes32"
   }
  ],
  "name": "FundingEnrolled",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "merchantRef",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "wallet",
    "type": "address"
   },
   {
    "indexed": false,
    "internalType": "uint64",
    "name": "revokedAt",
    "type": "uint64"
   }
  ],
  "name": "FundingRevoked",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "indexed": false,
    "internalType": "uint32",
    "name": "sequence",
    "type": "uint32"
   },
   {
    "indexed": false,
    "internalType": "uint256",
    "name": "released",
    "type": "uint256"
   }
  ],
  "name": "OfferWithdrawn",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "indexed": false,
    "internalType": "bool",
    "name": "paused",
    "type": "bool"
   }
  ],
  "name": "PausedSet",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "admin",
    "type": "address"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "registrar",
    "type": "address"
   },
   {
    "indexed": false,
    "internalType": "address",
    "name": "commitmentSigner",
    "type": "address"
   },
   {
    "components": [
     {
      "internalType": "uint256",
      "name": "maxPurchase",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "openBudget",
      "type": "uint256"
     },
     {
      "internalType": "uint64",
      "name": "validUntil",
      "type": "uint64"
     }
    ],
    "indexed": false,
    "internalType": "struct IPurchaseRegistrar.Bounds",
    "name": "bounds",
    "type": "tuple"
   }
  ],
  "name": "ProgramOpened",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "beneficiary",
    "type": "address"
   },
   {
    "indexed": false,
    "internalType": "uint32",
    "name": "sequence",
    "type": "uint32"
   },
   {
    "indexed": false,
    "internalType": "bytes32",
    "name": "claimHash",
    "type": "bytes32"
   }
  ],
  "name": "PurchaseClaimed",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "indexed": false,
    "internalType": "uint32",
    "name": "sequence",
    "type": "uint32"
   },
   {
    "indexed": false,
    "internalType": "uint256",
    "name": "released",
    "type": "uint256"
   }
  ],
  "name": "PurchaseExpired",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "registrar",
    "type": "address"
   },
   {
    "indexed": false,
    "internalType": "uint32",
    "name": "sequence",
    "type": "uint32"
   },
   {
    "indexed": false,
    "internalType": "bytes32",
    "name": "merchantRef",
    "type": "bytes32"
   },
   {
    "components": [
     {
      "internalType": "bytes32",
      "name": "program",
      "type": "bytes32"
     },
     {
      "internalType": "bytes32",
      "name": "purchaseRef",
      "type": "bytes32"
     },
     {
      "internalType": "address",
      "name": "merchant",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "buyer",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "beneficiary",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "token",
      "type": "address"
     },
     {
      "internalType": "uint256",
      "name": "amount",
      "type": "uint256"
     },
     {
      "internalType": "bytes32",
      "name": "termsHash",
      "type": "bytes32"
     },
     {
      "internalType": "uint64",
      "name": "offerDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "payDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "claimDeadline",
      "type": "uint64"
     },
     {
      "internalType": "bytes32",
      "name": "salt",
      "type": "bytes32"
     }
    ],
    "indexed": false,
    "internalType": "struct IPurchaseRegistrar.Purchase",
    "name": "purchase",
    "type": "tuple"
   }
  ],
  "name": "PurchaseOffered",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "buyer",
    "type": "address"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "merchant",
    "type": "address"
   },
   {
    "indexed": false,
    "internalType": "uint32",
    "name": "sequence",
    "type": "uint32"
   },
   {
    "indexed": false,
    "internalType": "address",
    "name": "token",
    "type": "address"
   },
   {
    "indexed": false,
    "internalType": "uint256",
    "name": "amount",
    "type": "uint256"
   },
   {
    "indexed": false,
    "internalType": "uint256",
    "name": "paidTotal",
    "type": "uint256"
   }
  ],
  "name": "PurchasePaid",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "merchant",
    "type": "address"
   },
   {
    "indexed": false,
    "internalType": "uint32",
    "name": "sequence",
    "type": "uint32"
   },
   {
    "indexed": false,
    "internalType": "bytes32",
    "name": "merchantRef",
    "type": "bytes32"
   },
   {
    "components": [
     {
      "internalType": "bytes32",
      "name": "program",
      "type": "bytes32"
     },
     {
      "internalType": "bytes32",
      "name": "purchaseRef",
      "type": "bytes32"
     },
     {
      "internalType": "address",
      "name": "merchant",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "buyer",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "beneficiary",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "token",
      "type": "address"
     },
     {
      "internalType": "uint256",
      "name": "amount",
      "type": "uint256"
     },
     {
      "internalType": "bytes32",
      "name": "termsHash",
      "type": "bytes32"
     },
     {
      "internalType": "uint64",
      "name": "offerDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "payDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "claimDeadline",
      "type": "uint64"
     },
     {
      "internalType": "bytes32",
      "name": "salt",
      "type": "bytes32"
     }
    ],
    "indexed": false,
    "internalType": "struct IPurchaseRegistrar.Purchase",
    "name": "purchase",
    "type": "tuple"
   }
  ],
  "name": "PurchaseRegistered",
  "type": "event"
 },
 {
  "anonymous": false,
  "inputs": [
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   },
   {
    "indexed": true,
    "internalType": "address",
    "name": "beneficiary",
    "type": "address"
   },
   {
    "indexed": true,
    "internalType": "bytes32",
    "name": "decisionHash",
    "type": "bytes32"
   },
   {
    "indexed": false,
    "internalType": "uint32",
    "name": "sequence",
    "type": "uint32"
   },
   {
    "indexed": false,
    "internalType": "bytes32",
    "name": "merchantRef",
    "type": "bytes32"
   },
   {
    "indexed": false,
    "internalType": "uint256",
    "name": "award",
    "type": "uint256"
   },
   {
    "indexed": false,
    "internalType": "uint256",
    "name": "collectedTotal",
    "type": "uint256"
   }
  ],
  "name": "RefundCollected",
  "type": "event"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   },
   {
    "internalType": "bytes32",
    "name": "claimHash",
    "type": "bytes32"
   }
  ],
  "name": "claim",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   },
   {
    "internalType": "uint256",
    "name": "award",
    "type": "uint256"
   },
   {
    "internalType": "bytes32",
    "name": "decisionHash",
    "type": "bytes32"
   }
  ],
  "name": "collectRefund",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "decisionHash",
    "type": "bytes32"
   }
  ],
  "name": "decisionUsed",
  "outputs": [
   {
    "internalType": "bool",
    "name": "",
    "type": "bool"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 },
 {
  "inputs": [
   {
    "components": [
     {
      "internalType": "bytes32",
      "name": "program",
      "type": "bytes32"
     },
     {
      "internalType": "bytes32",
      "name": "merchantRef",
      "type": "bytes32"
     },
     {
      "internalType": "address",
      "name": "wallet",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "token",
      "type": "address"
     },
     {
      "internalType": "uint256",
      "name": "cap",
      "type": "uint256"
     },
     {
      "internalType": "uint64",
      "name": "validUntil",
      "type": "uint64"
     },
     {
      "internalType": "bytes32",
      "name": "salt",
      "type": "bytes32"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.FundingAuthorization",
    "name": "authorization",
    "type": "tuple"
   },
   {
    "internalType": "bytes",
    "name": "signature",
    "type": "bytes"
   }
  ],
  "name": "enroll",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "internalType": "address",
    "name": "wallet",
    "type": "address"
   }
  ],
  "name": "enrolledAs",
  "outputs": [
   {
    "internalType": "bytes32",
    "name": "merchantRef",
    "type": "bytes32"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   }
  ],
  "name": "expire",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   }
  ],
  "name": "figures",
  "outputs": [
   {
    "components": [
     {
      "internalType": "enum IPurchaseRegistrar.Status",
      "name": "status",
      "type": "uint8"
     },
     {
      "internalType": "uint32",
      "name": "sequence",
      "type": "uint32"
     },
     {
      "internalType": "uint256",
      "name": "amount",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "approved",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "paid",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "outstanding",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "refunded",
      "type": "uint256"
     },
     {
      "internalType": "bytes32",
      "name": "claimHash",
      "type": "bytes32"
     },
     {
      "internalType": "bytes32",
      "name": "decisionHash",
      "type": "bytes32"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.Figures",
    "name": "",
    "type": "tuple"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "internalType": "bytes32",
    "name": "merchantRef",
    "type": "bytes32"
   }
  ],
  "name": "funding",
  "outputs": [
   {
    "components": [
     {
      "internalType": "address",
      "name": "wallet",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "token",
      "type": "address"
     },
     {
      "internalType": "uint256",
      "name": "cap",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "collected",
      "type": "uint256"
     },
     {
      "internalType": "uint64",
      "name": "validUntil",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "revokedAt",
      "type": "uint64"
     },
     {
      "internalType": "bytes32",
      "name": "authorization",
      "type": "bytes32"
     },
     {
      "internalType": "uint256",
      "name": "allowance",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "balance",
      "type": "uint256"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.FundingState",
    "name": "",
    "type": "tuple"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 },
 {
  "inputs": [],
  "name": "fundingSource",
  "outputs": [
   {
    "internalType": "address",
    "name": "",
    "type": "address"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 },
 {
  "inputs": [
   {
    "components": [
     {
      "internalType": "bytes32",
      "name": "commitment",
      "type": "bytes32"
     },
     {
      "internalType": "address",
      "name": "beneficiary",
      "type": "address"
     },
     {
      "internalType": "uint256",
      "name": "requestedAmount",
      "type": "uint256"
     },
     {
      "internalType": "bytes32",
      "name": "reasonHash",
      "type": "bytes32"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.Claim",
    "name": "claimData",
    "type": "tuple"
   }
  ],
  "name": "hashClaim",
  "outputs": [
   {
    "internalType": "bytes32",
    "name": "",
    "type": "bytes32"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 },
 {
  "inputs": [
   {
    "components": [
     {
      "internalType": "bytes32",
      "name": "program",
      "type": "bytes32"
     },
     {
      "internalType": "bytes32",
      "name": "merchantRef",
      "type": "bytes32"
     },
     {
      "internalType": "address",
      "name": "wallet",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "token",
      "type": "address"
     },
     {
      "internalType": "uint256",
      "name": "cap",
      "type": "uint256"
     },
     {
      "internalType": "uint64",
      "name": "validUntil",
      "type": "uint64"
     },
     {
      "internalType": "bytes32",
      "name": "salt",
      "type": "bytes32"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.FundingAuthorization",
    "name": "authorization",
    "type": "tuple"
   }
  ],
  "name": "hashFunding",
  "outputs": [
   {
    "internalType": "bytes32",
    "name": "",
    "type": "bytes32"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 },
 {
  "inputs": [
   {
    "components": [
     {
      "internalType": "bytes32",
      "name": "program",
      "type": "bytes32"
     },
     {
      "internalType": "bytes32",
      "name": "purchaseRef",
      "type": "bytes32"
     },
     {
      "internalType": "address",
      "name": "merchant",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "buyer",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "beneficiary",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "token",
      "type": "address"
     },
     {
      "internalType": "uint256",
      "name": "amount",
      "type": "uint256"
     },
     {
      "internalType": "bytes32",
      "name": "termsHash",
      "type": "bytes32"
     },
     {
      "internalType": "uint64",
      "name": "offerDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "payDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "claimDeadline",
      "type": "uint64"
     },
     {
      "internalType": "bytes32",
      "name": "salt",
      "type": "bytes32"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.Purchase",
    "name": "purchase",
    "type": "tuple"
   }
  ],
  "name": "hashPurchase",
  "outputs": [
   {
    "internalType": "bytes32",
    "name": "",
    "type": "bytes32"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 },
 {
  "inputs": [
   {
    "components": [
     {
      "internalType": "bytes32",
      "name": "program",
      "type": "bytes32"
     },
     {
      "internalType": "bytes32",
      "name": "purchaseRef",
      "type": "bytes32"
     },
     {
      "internalType": "address",
      "name": "merchant",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "buyer",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "beneficiary",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "token",
      "type": "address"
     },
     {
      "internalType": "uint256",
      "name": "amount",
      "type": "uint256"
     },
     {
      "internalType": "bytes32",
      "name": "termsHash",
      "type": "bytes32"
     },
     {
      "internalType": "uint64",
      "name": "offerDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "payDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "claimDeadline",
      "type": "uint64"
     },
     {
      "internalType": "bytes32",
      "name": "salt",
      "type": "bytes32"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.Purchase",
    "name": "purchase",
    "type": "tuple"
   },
   {
    "internalType": "bytes",
    "name": "signature",
    "type": "bytes"
   }
  ],
  "name": "offer",
  "outputs": [
   {
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   }
  ],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "internalType": "address",
    "name": "registrar",
    "type": "address"
   },
   {
    "internalType": "address",
    "name": "commitmentSigner",
    "type": "address"
   },
   {
    "components": [
     {
      "internalType": "uint256",
      "name": "maxPurchase",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "openBudget",
      "type": "uint256"
     },
     {
      "internalType": "uint64",
      "name": "validUntil",
      "type": "uint64"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.Bounds",
    "name": "bounds",
    "type": "tuple"
   }
  ],
  "name": "openProgram",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   },
   {
    "internalType": "uint256",
    "name": "amount",
    "type": "uint256"
   }
  ],
  "name": "pay",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32[]",
    "name": "ids",
    "type": "bytes32[]"
   },
   {
    "internalType": "uint256[]",
    "name": "amounts",
    "type": "uint256[]"
   }
  ],
  "name": "payBatch",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   }
  ],
  "name": "programState",
  "outputs": [
   {
    "components": [
     {
      "internalType": "address",
      "name": "admin",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "registrar",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "commitmentSigner",
      "type": "address"
     },
     {
      "internalType": "bool",
      "name": "paused",
      "type": "bool"
     },
     {
      "components": [
       {
        "internalType": "uint256",
        "name": "maxPurchase",
        "type": "uint256"
       },
       {
        "internalType": "uint256",
        "name": "openBudget",
        "type": "uint256"
       },
       {
        "internalType": "uint64",
        "name": "validUntil",
        "type": "uint64"
       }
      ],
      "internalType": "struct IPurchaseRegistrar.Bounds",
      "name": "bounds",
      "type": "tuple"
     },
     {
      "internalType": "uint256",
      "name": "openOffers",
      "type": "uint256"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.ProgramState",
    "name": "",
    "type": "tuple"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   }
  ],
  "name": "purchase",
  "outputs": [
   {
    "components": [
     {
      "internalType": "enum IPurchaseRegistrar.Status",
      "name": "status",
      "type": "uint8"
     },
     {
      "internalType": "enum IPurchaseRegistrar.Route",
      "name": "route",
      "type": "uint8"
     },
     {
      "internalType": "uint32",
      "name": "sequence",
      "type": "uint32"
     },
     {
      "internalType": "bytes32",
      "name": "program",
      "type": "bytes32"
     },
     {
      "internalType": "bytes32",
      "name": "merchantRef",
      "type": "bytes32"
     },
     {
      "internalType": "address",
      "name": "merchant",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "buyer",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "beneficiary",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "token",
      "type": "address"
     },
     {
      "internalType": "uint256",
      "name": "amount",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "paid",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "refunded",
      "type": "uint256"
     },
     {
      "internalType": "uint64",
      "name": "payDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "claimDeadline",
      "type": "uint64"
     },
     {
      "internalType": "bytes32",
      "name": "claimHash",
      "type": "bytes32"
     },
     {
      "internalType": "bytes32",
      "name": "decisionHash",
      "type": "bytes32"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.PurchaseState",
    "name": "",
    "type": "tuple"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 },
 {
  "inputs": [
   {
    "components": [
     {
      "internalType": "bytes32",
      "name": "program",
      "type": "bytes32"
     },
     {
      "internalType": "bytes32",
      "name": "purchaseRef",
      "type": "bytes32"
     },
     {
      "internalType": "address",
      "name": "merchant",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "buyer",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "beneficiary",
      "type": "address"
     },
     {
      "internalType": "address",
      "name": "token",
      "type": "address"
     },
     {
      "internalType": "uint256",
      "name": "amount",
      "type": "uint256"
     },
     {
      "internalType": "bytes32",
      "name": "termsHash",
      "type": "bytes32"
     },
     {
      "internalType": "uint64",
      "name": "offerDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "payDeadline",
      "type": "uint64"
     },
     {
      "internalType": "uint64",
      "name": "claimDeadline",
      "type": "uint64"
     },
     {
      "internalType": "bytes32",
      "name": "salt",
      "type": "bytes32"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.Purchase",
    "name": "purchase",
    "type": "tuple"
   },
   {
    "internalType": "bytes",
    "name": "signature",
    "type": "bytes"
   }
  ],
  "name": "register",
  "outputs": [
   {
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   }
  ],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "internalType": "bytes32",
    "name": "merchantRef",
    "type": "bytes32"
   }
  ],
  "name": "revokeFunding",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "internalType": "address",
    "name": "registrar",
    "type": "address"
   },
   {
    "internalType": "address",
    "name": "commitmentSigner",
    "type": "address"
   },
   {
    "components": [
     {
      "internalType": "uint256",
      "name": "maxPurchase",
      "type": "uint256"
     },
     {
      "internalType": "uint256",
      "name": "openBudget",
      "type": "uint256"
     },
     {
      "internalType": "uint64",
      "name": "validUntil",
      "type": "uint64"
     }
    ],
    "internalType": "struct IPurchaseRegistrar.Bounds",
    "name": "bounds",
    "type": "tuple"
   }
  ],
  "name": "setBounds",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "program",
    "type": "bytes32"
   },
   {
    "internalType": "bool",
    "name": "paused",
    "type": "bool"
   }
  ],
  "name": "setPaused",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [
   {
    "internalType": "bytes32",
    "name": "id",
    "type": "bytes32"
   }
  ],
  "name": "withdrawOffer",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 }
] as const;
export const fundingSourceAbi = [
 {
  "inputs": [
   {
    "internalType": "address",
    "name": "token",
    "type": "address"
   },
   {
    "internalType": "address",
    "name": "from",
    "type": "address"
   },
   {
    "internalType": "address",
    "name": "to",
    "type": "address"
   },
   {
    "internalType": "uint256",
    "name": "amount",
    "type": "uint256"
   }
  ],
  "name": "draw",
  "outputs": [],
  "stateMutability": "nonpayable",
  "type": "function"
 },
 {
  "inputs": [],
  "name": "registrar",
  "outputs": [
   {
    "internalType": "address",
    "name": "",
    "type": "address"
   }
  ],
  "stateMutability": "view",
  "type": "function"
 }
] as const;
export const testUsdcAbi = [
 {
  "type": "event",
  "name": "Approval",
  "inputs": [
   {
    "indexed": true,
    "name": "owner",
    "type": "address"
   },
   {
    "indexed": true,
    "name": "spender",
    "type": "address"
   },
   {
    "indexed": false,
    "name": "value",
    "type": "uint256"
   }
  ]
 },
 {
  "type": "event",
  "name": "Transfer",
  "inputs": [
   {
    "indexed": true,
    "name": "from",
    "type": "address"
   },
   {
    "indexed": true,
    "name": "to",
    "type": "address"
   },
   {
    "indexed": false,
    "name": "value",
    "type": "uint256"
   }
  ]
 },
 {
  "type": "function",
  "name": "allowance",
  "stateMutability": "view",
  "inputs": [
   {
    "name": "owner",
    "type": "address"
   },
   {
    "name": "spender",
    "type": "address"
   }
  ],
  "outputs": [
   {
    "type": "uint256"
   }
  ]
 },
 {
  "type": "function",
  "name": "approve",
  "stateMutability": "nonpayable",
  "inputs": [
   {
    "name": "spender",
    "type": "address"
   },
   {
    "name": "amount",
    "type": "uint256"
   }
  ],
  "outputs": [
   {
    "type": "bool"
   }
  ]
 },
 {
  "type": "function",
  "name": "balanceOf",
  "stateMutability": "view",
  "inputs": [
   {
    "name": "account",
    "type": "address"
   }
  ],
  "outputs": [
   {
    "type": "uint256"
   }
  ]
 },
 {
  "type": "function",
  "name": "decimals",
  "stateMutability": "view",
  "inputs": [],
  "outputs": [
   {
    "type": "uint8"
   }
  ]
 },
 {
  "type": "function",
  "name": "name",
  "stateMutability": "view",
  "inputs": [],
  "outputs": [
   {
    "type": "string"
   }
  ]
 },
 {
  "type": "function",
  "name": "symbol",
  "stateMutability": "view",
  "inputs": [],
  "outputs": [
   {
    "type": "string"
   }
  ]
 },
 {
  "type": "function",
  "name": "totalSupply",
  "stateMutability": "view",
  "inputs": [],
  "outputs": [
   {
    "type": "uint256"
   }
  ]
 },
 {
  "type": "function",
  "name": "transfer",
  "stateMutability": "nonpayable",
  "inputs": [
   {
    "name": "recipient",
    "type": "address"
   },
   {
    "name": "amount",
    "type": "uint256"
   }
  ],
  "outputs": [
   {
    "type": "bool"
   }
  ]
 },
 {
  "type": "function",
  "name": "transferFrom",
  "stateMutability": "nonpayable",
  "inputs": [
   {
    "name": "sender",
    "type": "address"
   },
   {
    "name": "recipient",
    "type": "address"
   },
   {
    "name": "amount",
    "type": "uint256"
   }
  ],
  "outputs": [
   {
    "type": "bool"
   }
  ]
 }
] as const;

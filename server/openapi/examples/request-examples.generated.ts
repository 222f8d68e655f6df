// Recorded by `node scripts/record-examples.ts` on a fresh sandbox. Do not edit.

import type { RequestExample } from "./request-example.ts";

/** The request example of each operation, in an order in which they succeed. */
export const requestExamples: { readonly [operation: string]: RequestExample } = {
  "capabilities": {},
  "issueAccess": {
    "bodies": {
      "all_scopes": {
        "summary": "All scopes of the account's program. You can also omit the body.",
        "value": {}
      },
      "some_scopes": {
        "summary": "Only the scope that reads records.",
        "value": {
          "program": "prg_demo",
          "scopes": [
            "records:read"
          ]
        }
      }
    }
  },
  "readProgram": {},
  "createMerchant": {
    "header": {
      "Idempotency-Key": "create-merchant-1"
    },
    "bodies": {
      "merchant": {
        "summary": "A merchant whose refunds are funded up to 1,000 USDC.",
        "value": {
          "wallet": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
          "name": "Corner Books",
          "funding_cap": "1000000000",
          "reference": "shop-7"
        }
      }
    }
  },
  "readMerchantWallet": {
    "path": {
      "id": "mer_63lbp77s72d6zrjudbsa"
    }
  },
  "submitMerchantWalletAction": {
    "path": {
      "id": "mer_63lbp77s72d6zrjudbsa"
    },
    "header": {
      "Idempotency-Key": "wallet-enroll-1"
    },
    "bodies": {
      "enroll": {
        "summary": "The wallet's transaction and signature.",
        "value": {
          "action": "enroll",
          "transaction_hash": "0xa7f5c436318cb4c8c4e93885d1c3b33319c235763e1fd28659563d4d30ae006e",
          "signature": "0x31c1e55eaeb734275dc2e91cf0a60c29e97b0fb436dbe941fbef0380525fbc4e2fa17b0eab38434363e0848b916636abb4bc11f4f6b099e804ba6bf97dbe9cd21c"
        }
      }
    }
  },
  "confirmEnrollment": {
    "path": {
      "id": "mer_63lbp77s72d6zrjudbsa"
    },
    "header": {
      "Idempotency-Key": "confirm-enrollment-1"
    },
    "bodies": {
      "with_evidence": {
        "summary": "With the wallet's transaction and signature.",
        "value": {
          "transaction_hash": "0xa7f5c436318cb4c8c4e93885d1c3b33319c235763e1fd28659563d4d30ae006e",
          "signature": "0x31c1e55eaeb734275dc2e91cf0a60c29e97b0fb436dbe941fbef0380525fbc4e2fa17b0eab38434363e0848b916636abb4bc11f4f6b099e804ba6bf97dbe9cd21c"
        }
      },
      "from_wallet_route": {
        "summary": "The wallet has submitted its transaction over the wallet route.",
        "value": {}
      }
    }
  },
  "createPurchase": {
    "header": {
      "Idempotency-Key": "create-purchase-1"
    },
    "bodies": {
      "purchase": {
        "summary": "25 USDC, with the default deadlines.",
        "value": {
          "merchant_id": "mer_63lbp77s72d6zrjudbsa",
          "buyer": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
          "beneficiary": "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
          "amount": "25000000",
          "terms": {
            "sku": "course-42",
            "title": "A course"
          },
          "reference": "order-1001"
        }
      }
    }
  },
  "activatePurchase": {
    "path": {
      "id": "pur_wslre5zr5npqadbwtvwi"
    },
    "header": {
      "Idempotency-Key": "activate-purchase-1"
    },
    "bodies": {
      "commitment": {
        "summary": "The commitment to activate.",
        "value": {
          "commitment_hash": "0xcf73b8c28fd481bf7b5de7c8968f9dcd34be19ef37e1c664d8894ee6beca6859"
        }
      }
    }
  },
  "confirmRegistration": {
    "path": {
      "id": "pur_hxujcst34qhm2tp4qq6l"
    },
    "header": {
      "Idempotency-Key": "confirm-registration-1"
    },
    "bodies": {
      "registration": {
        "summary": "The merchant's own registration.",
        "value": {
          "transaction_hash": "0xbcb76cf5dc0fe9f97cc4c564d5bbe29e574d13d1af9e180c972ee72ba16b30b6"
        }
      }
    }
  },
  "reconcilePurchase": {
    "path": {
      "id": "pur_wslre5zr5npqadbwtvwi"
    },
    "header": {
      "Idempotency-Key": "reconcile-purchase-1"
    },
    "bodies": {
      "all_payments": {
        "summary": "Every payment of the purchase on the chain.",
        "value": {}
      },
      "one_payment": {
        "summary": "One payment.",
        "value": {
          "transaction_hashes": [
            "0xc29d193eccda9f3337ecbd3f31ef8e799ad895113f1486450f11a6d7a1a5bf55"
          ]
        }
      }
    }
  },
  "readPurchase": {
    "path": {
      "id": "pur_wslre5zr5npqadbwtvwi"
    }
  },
  "readPurchaseWallet": {
    "path": {
      "id": "pur_wslre5zr5npqadbwtvwi"
    },
    "query": {
      "amount": "10000000",
      "reason": "Arrived broken."
    }
  },
  "submitPurchaseWalletAction": {
    "path": {
      "id": "pur_wslre5zr5npqadbwtvwi"
    },
    "header": {
      "Idempotency-Key": "wallet-claim-1"
    },
    "bodies": {
      "claim": {
        "summary": "The beneficiary's transaction and signature.",
        "value": {
          "action": "claim",
          "amount": "10000000",
          "transaction_hash": "0x83deb20ae30bb5f1235c2899a85f9bbbf350e26b00f4961c5afa7af51e963378",
          "reason": "Arrived broken.",
          "signature": "0x130c44b84620422b21ee5ec2f922a4d29d80569d11cb0114061adb9b44493eb65b54b839c2de6521259772fcce256edede71dffa990532d93dd0f64a1d6774601b"
        }
      }
    }
  },
  "fileClaim": {
    "path": {
      "id": "pur_wslre5zr5npqadbwtvwi"
    },
    "header": {
      "Idempotency-Key": "file-claim-1"
    },
    "bodies": {
      "claim": {
        "summary": "10 USDC of what was paid.",
        "value": {
          "transaction_hash": "0x83deb20ae30bb5f1235c2899a85f9bbbf350e26b00f4961c5afa7af51e963378",
          "requested_amount": "10000000",
          "reason": "Arrived broken.",
          "signature": "0x130c44b84620422b21ee5ec2f922a4d29d80569d11cb0114061adb9b44493eb65b54b839c2de6521259772fcce256edede71dffa990532d93dd0f64a1d6774601b"
        }
      }
    }
  },
  "recordDecision": {
    "path": {
      "id": "pur_wslre5zr5npqadbwtvwi"
    },
    "header": {
      "Idempotency-Key": "record-decision-1"
    },
    "bodies": {
      "approved": {
        "summary": "The reviewer awards all that was claimed.",
        "value": {
          "claim_id": "clm_ybogzhtvxw56rjjtemt3",
          "outcome": "approved",
          "award": "10000000",
          "decided_at": "2026-01-01T00:00:17Z",
          "reviewer_key_id": "eKgQnJRLPGLCHzXrNsZXOfx5TFAYX3EnK-mOOd80Nxs",
          "approval": "mXxy8Vw2GEV9Kvc211KX_jEcmMce2gH6irPs2sL5r5e8L59DiOA5c8C3-hT31iL_Lg93wwl6C4bq63ViZhTXAA"
        }
      }
    }
  },
  "executeRefund": {
    "path": {
      "id": "pur_wslre5zr5npqadbwtvwi"
    },
    "header": {
      "Idempotency-Key": "execute-refund-1"
    },
    "bodies": {
      "refund": {
        "summary": "The award of the decision.",
        "value": {
          "decision_id": "dec_gitl2ys4qh3fzzzp54rp"
        }
      }
    }
  },
  "deliverNotification": {
    "header": {
      "Idempotency-Key": "deliver-notification-1"
    },
    "bodies": {
      "oldest": {
        "summary": "The oldest undelivered event.",
        "value": {}
      },
      "one_event": {
        "summary": "The event of a write.",
        "value": {
          "event_id": "evt_cjqebneuobbqqhswvrnx"
        }
      }
    }
  },
  "receiveNotification": {
    "header": {
      "webhook-id": "evt_cqexwxughkcsjtxbsb3i",
      "webhook-timestamp": "1767225619",
      "webhook-signature": "v1,5XWq7Z0wXSaquJH9jkYsaxt0KMMr5rNhfLt3J0v8VGk= v1a,fEjC92ZoeF+WGi79Oy8UC3r4qEguxd8Bcva8tvJqiyLldcfi1Y5L6bMBWy/SOvWTuuEoOmWxUnmyXV+4TvtMDw=="
    },
    "bodies": {
      "event": {
        "summary": "The body as it was delivered.",
        "value": {
          "id": "evt_cqexwxughkcsjtxbsb3i",
          "type": "merchant.created",
          "program": "prg_demo",
          "sequence": 1,
          "created_at": "2026-01-01T00:00:11Z",
          "data": {
            "merchant_id": "mer_63lbp77s72d6zrjudbsa",
            "wallet": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            "funding_cap": "1000000000"
          }
        }
      }
    }
  },
  "listReceipts": {
    "query": {
      "limit": "20"
    }
  },
  "listTransactions": {
    "query": {
      "limit": "20"
    }
  }
};

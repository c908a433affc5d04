package docs

// rule is the words about one rule of the business. Backticks mark code.
type rule struct {
	slug     string
	title    string
	detail   string   // exactly what core says
	requests []string // that can be refused so
	happened []string // paragraphs
	retry    string
	next     []string
}

type group struct {
	title string
	rules []rule
}

const (
	recordTransaction = "POST /api/v1/transactions"
	voidTransaction   = "POST /api/v1/transactions/{ulid}/void"
	createRedemption  = "POST /api/v1/redemptions"
	fulfilRedemption  = "POST /api/v1/redemptions/{ulid}/fulfil"
	redeemVoucher     = "POST /api/v1/coupons/{ulid}/redeem"
	upsertCustomer    = "POST /api/v1/customers"
	editCustomer      = "PATCH /api/v1/customers/{ulid}"
	createToken       = "POST /api/v1/tokens"
	adjustBalance     = "Adjusting a balance, in the panel"
	sendCoupon        = "Sending a coupon, in the panel"
	changeStaff       = "Changing the role of a person or deactivating them, in the panel"
	inviteAgain       = "Inviting a person again, in the panel"
	setUpFactor       = "Setting up a second factor, in the panel"
	voidSale          = "Voiding a sale, in the panel"
	setStock          = "Correcting the stock of a reward, in the panel"
	takePIN           = "Entering a PIN or scanning a code, at the till or on a customer’s phone"
	runImport         = "Importing customers from a file, in the panel"
	inviteStaff       = "Inviting or activating a person of the staff, in the panel"
	joinPage          = "Joining, on the page of a business"
	changePlans       = "Deleting a plan, in the platform panel"
	changeTenants     = "Suspending or reactivating a business, in the platform panel"
	changeInvoices    = "Changing an invoice, in the platform panel"
)

// groups are all the rules, in the order of the list page.
var groups = []group{
	{"Customers", []rule{
		{
			slug: "customer-erased", title: "The customer was erased",
			detail:   "This customer was erased and cannot be changed.",
			requests: []string{editCustomer, adjustBalance},
			happened: []string{
				"Somebody asked to be forgotten, and the business erased them: their name, phone number and e-mail address are gone, for good. " +
					"What is left are their sales and balances, which belong to nobody in particular any more. Nothing was changed.",
			},
			retry: "No. An erased customer stays erased.",
			next: []string{
				"If they come back, make them a customer again with `POST /api/v1/customers`: nobody has their phone number now, so they begin anew.",
				"Delete what your own system still keeps about them.",
			},
		},
	}},
	{"Transactions", []rule{
		{
			slug: "already-voided", title: "The transaction is already voided",
			detail:   "This transaction has already been voided.",
			requests: []string{voidTransaction},
			happened: []string{
				"Somebody voided this transaction before, and its points or stamps were taken back then. " +
					"They have not been taken back a second time: this request changed nothing.",
			},
			retry: "No, the answer would be the same. If you sent the void again because its first answer got lost, treat this one as success.",
			next: []string{
				"Read `GET /api/v1/transactions/{ulid}` to see when it was voided: `voided_at`.",
				"If the wrong transaction was meant, check the ULID and void the right one.",
			},
		},
		{
			slug: "void-not-allowed", title: "This sale is not yours to void",
			detail:   "At the till only your own last sale can be voided, within 10 minutes. A manager can void this one.",
			requests: []string{voidSale},
			happened: []string{
				"A cashier can take back the sale they have just rung up: the last one they recorded themselves, for ten minutes. " +
					"This sale is older, somebody else’s, or they have recorded another one since. Nothing was voided.",
				"A later sale counts even if it was voided itself: the one before it does not become the last again.",
			},
			retry: "No. Once this has been said of a sale, it stays so.",
			next: []string{
				"Ask a manager or an owner: they can void any sale, at any time.",
				"Then ring the sale up again as it should have been.",
			},
		},
		{
			slug: "balance-too-large", title: "The balance would be too large",
			detail:   "The award would exceed the largest possible balance.",
			requests: []string{recordTransaction, voidTransaction, redeemVoucher, adjustBalance},
			happened: []string{
				"A balance can grow to 9,223,372,036,854,775,807 and no further, and one award is at most 1,000,000,000,000 points or stamps. " +
					"This award would have gone past one of them. Nothing was recorded and no balance changed.",
				"Below zero the same number is the limit: a void that would go past it is refused as well.",
				"No shop comes near that number by selling. Most likely an amount was sent in the wrong unit, " +
					"or a transaction type or a coupon awards far more than was intended.",
			},
			retry: "Not unchanged. Send it again once the amount or the rule has been put right.",
			next: []string{
				"Check `spend_amount_cents`: it is in cents, so 12.50 is `1250`.",
				"Check how much the transaction type or the coupon awards.",
				"Look at the customer’s `points_balance` and `stamps_balance` in `GET /api/v1/customers/{ulid}`.",
			},
		},
	}},
	{"Rewards and redemptions", []rule{
		{
			slug: "insufficient-points", title: "Not enough points",
			detail:   "Insufficient points balance.",
			requests: []string{createRedemption, adjustBalance},
			happened: []string{
				"The reward costs more points than the customer has. No points were taken and no redemption was made.",
				"A balance can even be below zero: when a sale is voided after its points were spent, they are taken back all the same. " +
					"Nothing can be redeemed until they have been earned again.",
				"An adjustment by hand that would take away more than there is, is refused in the same way.",
			},
			retry: "Not until the customer has earned enough points.",
			next: []string{
				"Compare `points_balance` in `GET /api/v1/customers/{ulid}` with the reward’s `points_cost` in `GET /api/v1/rewards`.",
				"Tell the customer how many points are missing, or offer a reward that costs less.",
			},
		},
		{
			slug: "insufficient-stamps", title: "Not enough stamps",
			detail:   "Insufficient stamps balance.",
			requests: []string{createRedemption, adjustBalance},
			happened: []string{
				"The reward costs more stamps than the customer has. No stamps were taken and no redemption was made.",
				"A balance can even be below zero: when a sale is voided after its stamps were spent, they are taken back all the same. " +
					"Nothing can be redeemed until they have been earned again.",
				"An adjustment by hand that would take away more than there is, is refused in the same way.",
			},
			retry: "Not until the customer has earned enough stamps.",
			next: []string{
				"Compare `stamps_balance` in `GET /api/v1/customers/{ulid}` with the reward’s `stamps_cost` in `GET /api/v1/rewards`.",
				"Tell the customer how many stamps are missing, or offer a reward that costs less.",
			},
		},
		{
			slug: "out-of-stock", title: "The reward is out of stock",
			detail:   "This reward is out of stock.",
			requests: []string{createRedemption, redeemVoucher},
			happened: []string{
				"The last piece of this reward has been promised to somebody. Nothing was taken from the customer.",
				"A voucher that is good for a reward is refused in the same way. It stays unused, and can be redeemed once there is stock.",
			},
			retry: "Not until the shop has raised the stock, or a redemption that was still pending has been voided.",
			next: []string{
				"Offer another reward from `GET /api/v1/rewards`.",
				"If there is more on the shelf than the number says, have the shop correct the reward’s stock in its panel.",
			},
		},
		{
			slug: "stock-changed", title: "The stock has changed meanwhile",
			detail:   "The stock has changed since you looked. Nothing was changed: look again, then correct it.",
			requests: []string{setStock},
			happened: []string{
				"Somebody counted the pieces on the shelf and typed the number in, but since the page was opened a till has handed one out, " +
					"or a colleague has corrected the stock as well. The number would have brought back a piece that is gone.",
			},
			retry: "Not with the same number. Look at the stock as it is now, and count again where that is needed.",
			next: []string{
				"Open the reward again: it shows the stock of this moment.",
				"To put new pieces on the shelf, add so many instead of setting the number: that works whatever the tills do meanwhile.",
			},
		},
		{
			slug: "already-fulfilled", title: "The redemption is already fulfilled",
			detail:   "This redemption has already been fulfilled.",
			requests: []string{fulfilRedemption},
			happened: []string{
				"The reward of this redemption was marked as handed over before. This request changed nothing.",
			},
			retry: "No, the answer would be the same.",
			next: []string{
				"Do not hand the reward over a second time, unless you know that the first time was yours: " +
					"a request whose answer got lost may well have succeeded.",
				"Read `GET /api/v1/redemptions/{ulid}` to see when it was fulfilled: `fulfilled_at`.",
			},
		},
		{
			slug: "redemption-voided", title: "The redemption was voided",
			detail:   "This redemption has been voided.",
			requests: []string{fulfilRedemption},
			happened: []string{
				"The shop called this redemption off before the reward was handed over. The customer got the points or stamps back, " +
					"and the reward went back into stock.",
			},
			retry: "No. A voided redemption stays voided.",
			next: []string{
				"Do not hand the reward over: it is no longer paid for.",
				"If the customer still wants it, make a new redemption with `POST /api/v1/redemptions`.",
			},
		},
	}},
	{"Coupons and vouchers", []rule{
		{
			slug: "voucher-redeemed", title: "The voucher is already redeemed",
			detail:   "This voucher has already been redeemed.",
			requests: []string{redeemVoucher},
			happened: []string{
				"A voucher is good for one time, and this one has been used. Its benefit was applied then, and has not been applied again.",
			},
			retry: "No, the answer would be the same.",
			next: []string{
				"Find it in `GET /api/v1/coupons/{ulid}/redemptions`, by the ULID of its coupon: `redeemed_at` says when it was used.",
				"If that was your own request a moment ago, whose answer got lost, the customer has the benefit already.",
			},
		},
		{
			slug: "voucher-expired", title: "The voucher has expired",
			detail:   "This voucher has expired.",
			requests: []string{redeemVoucher},
			happened: []string{
				"The last moment of this voucher has passed. It was fixed when the voucher was sent and is not moved afterwards, " +
					"even if the coupon itself is extended.",
			},
			retry: "No. An expired voucher stays expired.",
			next: []string{
				"Tell the customer that the offer has ended.",
				"The shop can send the coupon again in its panel, to customers who have not yet had as many vouchers of it as it allows.",
			},
		},
		{
			slug: "coupon-inactive", title: "The coupon is not active",
			detail:   "This coupon is no longer active.",
			requests: []string{redeemVoucher},
			happened: []string{
				"The shop has switched this voucher’s coupon off, and with it all vouchers that were sent of it. The voucher itself was not changed.",
			},
			retry: "Not until the shop has switched the coupon on again.",
			next: []string{
				"Tell the customer that the offer is closed.",
				"If it should not be, the shop can switch the coupon on in its panel. The voucher then works until it expires.",
			},
		},
		{
			slug: "coupon-expired", title: "The coupon has expired",
			detail:   "This coupon has expired.",
			requests: []string{sendCoupon},
			happened: []string{
				"The coupon’s last day has passed, so its vouchers would be expired the moment they arrived. Nothing was sent.",
			},
			retry: "Not until the coupon has a later end.",
			next: []string{
				"Give the coupon a later `expires_at` in the panel, or make a new coupon, and send that.",
				"Vouchers that were sent before keep the end they were sent with.",
			},
		},
		{
			slug: "coupon-not-started", title: "The coupon has not started yet",
			detail:   "This coupon has not started yet.",
			requests: []string{sendCoupon},
			happened: []string{
				"The coupon’s `starts_at` is still to come, and it cannot be sent before. Nothing was sent.",
			},
			retry: "Once the coupon has started.",
			next: []string{
				"Send it on or after that day, or move its start in the panel.",
			},
		},
		{
			slug: "send-begun", title: "The send has already started",
			detail:   "This send has already started.",
			requests: []string{sendCoupon},
			happened: []string{
				"A send can be cancelled until it begins. This one has begun: customers are getting their vouchers. Nothing was changed.",
			},
			retry: "No.",
			next: []string{
				"Stop the e-mails that have not gone out yet, on the send's page in the panel.",
				"Deactivate the coupon, and its vouchers can't be redeemed until it is active again.",
			},
		},
		{
			slug: "coupon-cap-reached", title: "The coupon has been redeemed often enough",
			detail:   "Maximum redemptions for this coupon have been reached.",
			requests: []string{redeemVoucher},
			happened: []string{
				"The shop set how many times this coupon can be redeemed by all customers together, and that number has been reached. " +
					"The voucher was not changed.",
			},
			retry: "Not until the shop has raised the number.",
			next: []string{
				"Tell the customer that the offer has run out.",
				"If there should be more, the shop can raise the coupon’s number of redemptions in its panel. The voucher then works until it expires.",
			},
		},
	}},
	{"Point of sale", []rule{
		{
			slug: "pin-invalid", title: "The PIN isn’t valid",
			detail:   "This PIN is wrong, used or expired. Ask for a new one.",
			requests: []string{takePIN},
			happened: []string{
				"A PIN can be used once, within 90 seconds of being shown. This one is wrong, was used already, has expired or was replaced by a newer one. " +
					"Which of these isn’t said, so that nobody can guess PINs.",
			},
			retry: "No.",
			next: []string{
				"At the till: ask the customer to show a new code, or find them by phone.",
				"On your phone: ask the cashier to show a new code.",
			},
		},
		{
			slug: "joining-closed", title: "New customers can’t join right now",
			detail:   "New customers can't join right now. Ask at the till.",
			requests: []string{joinPage},
			happened: []string{"The business can’t add customers at the moment. Nothing of what was entered was kept. Customers who joined before keep their card, points and rewards."},
			retry:    "Later, or at the till.",
			next:     []string{"Ask at the till: a sale can still be recorded for you."},
		},
	}},
	{"Plans and invoices", []rule{
		{
			slug: "plan-in-use", title: "The plan is in use",
			detail:   "Businesses are on this plan or were billed for it. Retire it instead: businesses on it keep it, and no others can choose it.",
			requests: []string{changePlans},
			happened: []string{"A plan that a business is on, or was billed for, can’t be deleted: its invoices name it. Nothing was changed."},
			retry:    "No.",
			next:     []string{"Retire the plan in the platform panel. It stays for the businesses that are on it."},
		},
		{
			slug: "invoice-not-draft", title: "The invoice is not a draft any more",
			detail:   "This invoice is no longer a draft.",
			requests: []string{changeInvoices},
			happened: []string{"Someone issued or voided this invoice before. It was issued once, and has one number."},
			retry:    "No.",
			next:     []string{"Open the invoice again to see its status."},
		},
		{
			slug: "invoice-not-open", title: "The invoice can’t be marked as paid",
			detail:   "Only an issued or overdue invoice can be marked as paid.",
			requests: []string{changeInvoices},
			happened: []string{"The invoice is a draft, void, or marked as paid already. Nothing was changed."},
			retry:    "No.",
			next:     []string{"Open the invoice again to see its status.", "Issue a draft first."},
		},
		{
			slug: "invoice-not-voidable", title: "The invoice can’t be voided",
			detail:   "A paid or voided invoice can't be voided.",
			requests: []string{changeInvoices},
			happened: []string{"The invoice was paid or voided before. Nothing was changed."},
			retry:    "No.",
			next:     []string{"If it was paid by mistake, settle that with the business outside of this product."},
		},
		{
			slug: "invoice-issuer-missing", title: "The issuer is missing",
			detail:   "Enter the issuer's name and address in the platform settings first.",
			requests: []string{changeInvoices},
			happened: []string{"An invoice says who issues it, and the platform settings don’t say so yet. The invoice is still a draft."},
			retry:    "Once the settings have a name and an address.",
			next:     []string{"Fill in Issuer in the platform panel under Settings, then issue the invoice."},
		},
		{
			slug: "invoice-not-issued", title: "The invoice can’t be sent",
			detail:   "A draft or a voided invoice can't be sent.",
			requests: []string{changeInvoices},
			happened: []string{"Only invoices that were issued are e-mailed. Nothing was sent."},
			retry:    "No.",
			next:     []string{"Issue a draft: that also sends it."},
		},
	}},
	{"Businesses", []rule{
		{
			slug: "tenant-suspended", title: "The business is already suspended",
			detail:   "This business is already suspended.",
			requests: []string{changeTenants},
			happened: []string{"Someone suspended the business before. The reason that its owner was mailed stays the first one, and no other e-mail was sent."},
			retry:    "No.",
			next:     []string{"Open the business in the platform panel: its page says since when it is suspended, and why."},
		},
		{
			slug: "tenant-not-suspended", title: "The business is not suspended",
			detail:   "This business is not suspended.",
			requests: []string{changeTenants},
			happened: []string{"Only a suspended business can be reactivated, and this one is active. Nothing was changed."},
			retry:    "No.",
			next:     []string{"Nothing: the business can be used."},
		},
	}},
	{"Imports", []rule{
		{
			slug: "import-running", title: "Another import is running",
			detail:   "Another import is running. Wait until it is done, or stop it.",
			requests: []string{runImport},
			happened: []string{
				"A business imports one file of customers at a time, so that the tills need not wait for several. " +
					"Somebody has begun another one that is not done yet. Nothing of this file was imported.",
			},
			retry: "Once the other one is done, or was stopped.",
			next: []string{
				"Open the list of imports in the panel: it shows which one is running, and how far it is.",
				"This file stays as it was checked. Import it afterwards: it finds the customers whom the other file made.",
			},
		},
		{
			slug: "import-step", title: "The import is at another step",
			detail:   "This import is not at that step any more. Open it again to see how far it is.",
			requests: []string{runImport},
			happened: []string{
				"A file is uploaded, checked, and then imported. Somebody, perhaps in another window, has taken this one a step further " +
					"since the page was opened, or has stopped it. Nothing was changed.",
			},
			retry: "No, the answer would be the same.",
			next: []string{
				"Open the import again: its page shows how far it is and what can be done now.",
				"An import that was stopped or is done cannot be begun again. Upload the file anew: customers who are there already are found, and stay as they are.",
			},
		},
	}},
	{"People and signing in", []rule{
		{
			slug: "last-owner", title: "This is the last owner",
			detail:   "A business needs an owner who can sign in, and this is the only one. Make another person an owner first.",
			requests: []string{changeStaff},
			happened: []string{
				"Without this person, nobody could invite people, make API tokens or change the settings of the business. Nothing was changed.",
				"An owner who was invited and has not chosen a password yet does not count: they might never come.",
			},
			retry: "Once there is another owner who has chosen a password.",
			next: []string{
				"Give somebody else the role of an owner, or invite another one and wait until they have joined.",
			},
		},
		{
			slug: "already-joined", title: "The person has joined already",
			detail:   "This person has already chosen a password. If they forgot it, they can reset it at the sign-in page.",
			requests: []string{inviteAgain},
			happened: []string{
				"An invitation lets somebody choose their first password, and this person has one. No mail was sent.",
			},
			retry: "No, the answer would be the same.",
			next: []string{
				"Tell them to follow “Forgot password” at the sign-in page. A link to choose another one is then mailed to them.",
			},
		},
		{
			slug: "two-step-verification-on", title: "Two-step verification is already on",
			detail:   "Two-step verification is already on. Turn it off first to set it up again.",
			requests: []string{setUpFactor},
			happened: []string{
				"A person has one authenticator app, and turning two-step verification off asks for a password or a code. " +
					"Setting up a second app would avoid that. Nothing was changed.",
			},
			retry: "Once it is off.",
			next: []string{
				"Turn it off under your own security settings, and set it up anew.",
				"If your phone is lost, sign in with a recovery code, or ask an owner of the business to turn your second factor off.",
			},
		},
	}},
	{"API tokens", []rule{
		{
			slug: "token-limit-reached", title: "The limit of API tokens is reached",
			detail:   "The limit of 100 active API tokens for one person has been reached. Revoke one that is no longer used.",
			requests: []string{createToken},
			happened: []string{
				"A person can have 100 API tokens that are neither revoked nor expired, and this one has them already. No token was created.",
				"A program that creates a token for each run, and never revokes it, reaches this limit sooner or later.",
			},
			retry: "Not until one of the tokens is revoked or expires.",
			next: []string{
				"List your tokens with `GET /api/v1/tokens`: `last_used_at` shows which ones are unused. Revoke those with `DELETE /api/v1/tokens/{id}`.",
				"In the panel, an owner can revoke all tokens of a person at once, on that person's page under Settings, People.",
				"Set `expires_at` on tokens that are needed for a while only.",
			},
		},
	}},
	{"Any request", []rule{
		{
			slug: "idempotency-key-reused", title: "The idempotency key was used before",
			detail:   "This idempotency key was used with a different request.",
			requests: []string{"POST /api/v1/…, except /tokens"},
			happened: []string{
				"Your token used this `Idempotency-Key` within the last 24 hours, for a request with another path or another body. " +
					"A key stands for one request, so this one was not carried out.",
				"Bodies are compared byte for byte: the same fields in another order, or with other spaces, are another body.",
			},
			retry: "Not with this key. With a new key, the request is carried out like any other.",
			next: []string{
				"Make a new key, such as a random UUID, for each thing you want done.",
				"Keep the key together with the body you sent, and use both unchanged when you send it again.",
			},
		},
		{
			slug: "plan-limit-reached", title: "The plan’s limit is reached",
			detail:   "The limit of the plan has been reached.",
			requests: []string{upsertCustomer, editCustomer, runImport, sendCoupon, inviteStaff},
			happened: []string{
				"The business’s plan includes a number of active customers, of staff, and of coupon sends a month. " +
					"This request would have gone past one of them, so nothing was changed. The answer’s detail says which one, and how many the plan includes. " +
					"Sales are never refused for this reason, and existing customers are still found.",
				"An import is refused as a whole if its new customers exceed the plan.",
			},
			retry: "Not until there is room again: on a larger plan, after customers or staff were deactivated, or, for coupon sends, in the next month.",
			next: []string{
				"Ask the owner of the business to look at Settings, Billing in the panel: it shows what the plan includes and what is used.",
				"Go on recording sales of existing customers.",
			},
		},
	}},
}

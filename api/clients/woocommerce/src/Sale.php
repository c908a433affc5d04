<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/**
 * What Loyalty has of one order. What was sent is kept with the order, so running it again changes nothing, and a
 * step whose response was lost is repeated with the same key.
 */
final class Sale
{
    private const META = '_loyalty';

    private const NEW = [
        'paid' => false, // points are due
        'round' => 1, // an order can be paid again after it was cancelled
        'request' => '', // the sale as it was sent first, byte for byte
        'ulid' => '', // of the recorded sale
        'refunds' => [],
        'vouchers' => [], // whether each was redeemed
        'tries' => 0, // that failed for now
    ];

    private array $state;

    public function __construct(private readonly \WC_Order $order, private readonly Api $api)
    {
        $kept = $order->get_meta(self::META);
        $this->state = (is_array($kept) ? $kept : []) + self::NEW;
    }

    /** Marks the order as paid: points are due. */
    public function pay(): void
    {
        $this->keep(['paid' => true, 'tries' => 0]);
    }

    /** Reports whether the order was paid since it was last cancelled. */
    public function isPaid(): bool
    {
        return $this->state['paid'];
    }

    /** Counts a try that failed for now, and returns their number. */
    public function fail(): int
    {
        $this->keep(['tries' => $this->state['tries'] + 1]);
        return $this->state['tries'];
    }

    /**
     * Brings Loyalty in step with the order.
     *
     * @throws Problem that may be gone later
     */
    public function run(): void
    {
        $total = $this->cents($this->order->get_total());
        $refunded = $this->cents($this->order->get_total_refunded());
        $lost = $this->order->has_status(['cancelled', 'failed']);
        $over = $lost || $refunded > 0 && $refunded >= $total;
        if ($this->state['ulid'] === '' && (!$over || $this->state['request'] !== '')) {
            $this->step($this->record(...), __('No points for this order.', 'loyalty-for-woocommerce'));
        }
        if ($over) {
            $this->undo($lost);
            return;
        }
        $this->redeemVouchers();
        if ($this->state['ulid'] !== '') {
            $this->recordRefunds();
        }
        $this->keep(['tries' => 0]);
    }

    /** Finds or adds the customer, and records the sale. */
    private function record(): void
    {
        if ($this->state['request'] === '') {
            $this->keep(['request' => $this->describe()]);
        }
        try {
            $sale = $this->api->post('transactions', $this->state['request'], $this->reference('sale'));
        } catch (Problem $problem) {
            if ($problem->rule === 'reference-taken') { // its response was lost
                $sale = $this->api->get('transactions/' . rawurlencode((string) $problem->document['transaction_ulid']));
            } elseif (isset($problem->errors['occurred_at'])) { // the clocks differ, or it's long ago
                $undated = json_decode($this->state['request'], true);
                unset($undated['occurred_at']);
                $this->keep(['request' => (string) wp_json_encode($undated)]);
                $this->record();
                return;
            } else {
                $this->keep($problem->isFinal() ? ['request' => ''] : []);
                throw $problem;
            }
        }
        $this->keep(['ulid' => $sale['ulid']]);
        $this->note(self::count($sale['points_awarded'], $sale['stamps_awarded'], __('%s for this order.', 'loyalty-for-woocommerce')));
    }

    /** Describes the sale. */
    private function describe(): string
    {
        if ($this->order->get_currency() !== get_option('woocommerce_currency')) {
            throw new Problem(422, __('It isn’t in the shop’s own currency.', 'loyalty-for-woocommerce'), []);
        }
        $settings = Settings::all();
        $paid = $this->order->get_date_paid();
        return (string) wp_json_encode(array_filter([
            'customer_ulid' => $this->api->post('customers', $this->customer(), '')['ulid'],
            'transaction_type_id' => $settings['type'],
            'spend_amount_cents' => $this->cents($this->order->get_total()),
            'external_reference' => $this->reference(),
            'location_id' => $settings['location'] ?: null,
            'occurred_at' => $paid ? gmdate('Y-m-d\TH:i:s\Z', $paid->getTimestamp()) : null,
            'metadata' => ['order' => $this->order->get_order_number()],
        ], static fn (mixed $value): bool => $value !== null));
    }

    /** Describes the customer: of an account by its number, of a guest by e-mail. */
    private function customer(): array
    {
        $phone = trim($this->order->get_billing_phone());
        $digits = strlen((string) preg_replace('/\D/', '', $phone));
        $account = $this->order->get_customer_id();
        return array_filter([
            'first_name' => mb_substr(trim($this->order->get_billing_first_name()), 0, 100) ?: __('Guest', 'loyalty-for-woocommerce'),
            'last_name' => mb_substr(trim($this->order->get_billing_last_name()), 0, 100) ?: '–',
            'phone' => $digits >= 3 && strlen($phone) <= 30 ? $phone : null,
            'email' => $this->order->get_billing_email() ?: null,
            'external_id' => $account > 0 ? Settings::reference($account) : null,
        ], static fn (mixed $value): bool => $value !== null);
    }

    /** Records refunds of a part. */
    private function recordRefunds(): void
    {
        foreach ($this->order->get_refunds() as $refund) {
            $cents = $this->cents($refund->get_amount());
            if ($cents < 1 || in_array($refund->get_id(), $this->state['refunds'], true)) {
                continue;
            }
            $this->step(function () use ($refund, $cents): void {
                $reference = $this->reference('refund-' . $refund->get_id());
                $body = ['amount_cents' => $cents, 'external_reference' => $reference];
                $taken = $this->api->post("transactions/{$this->state['ulid']}/refunds", $body, $reference);
                $this->note(self::count($taken['points_refunded'], $taken['stamps_refunded'], __('%s taken back for a refund.', 'loyalty-for-woocommerce')));
            }, __('A refund isn’t in Loyalty.', 'loyalty-for-woocommerce'), 'reference-taken');
            $this->keep(['refunds' => [...$this->state['refunds'], $refund->get_id()]]);
        }
    }

    /** Redeems the vouchers that the order was placed with. */
    private function redeemVouchers(): void
    {
        foreach (array_filter(array_map([Vouchers::class, 'ulid'], $this->order->get_coupon_codes())) as $ulid) {
            if (isset($this->state['vouchers'][$ulid])) {
                continue;
            }
            /* translators: %s: a voucher's code */
            $refused = sprintf(__('Voucher %s gave a discount, but couldn’t be redeemed.', 'loyalty-for-woocommerce'), $ulid);
            $done = $this->step(function () use ($ulid): void {
                $redemption = $this->redeem($ulid)['redemption_ulid'] ?? null;
                if ($redemption !== null) { // the discount was the reward
                    $this->api->post("redemptions/$redemption/fulfil", null, $this->reference("fulfil-$ulid"));
                }
                /* translators: %s: a voucher's code */
                $this->note(sprintf(__('Voucher %s is redeemed.', 'loyalty-for-woocommerce'), $ulid));
            }, $refused);
            $this->keep(['vouchers' => [$ulid => $done] + $this->state['vouchers']]);
        }
    }

    /** Redeems a voucher with the sale, or without it if they are of different customers. */
    private function redeem(string $ulid): array
    {
        $key = $this->reference("redeem-$ulid");
        try {
            $body = $this->state['ulid'] === '' ? null : ['transaction_ulid' => $this->state['ulid']];
            return $this->api->post("coupons/$ulid/redeem", $body, $key);
        } catch (Problem $problem) {
            if (!isset($problem->errors['transaction_ulid'])) {
                throw $problem;
            }
            return $this->api->post("coupons/$ulid/redeem", null, $key);
        }
    }

    /** Takes everything back: the order was cancelled, its payment failed, or all of it was refunded. */
    private function undo(bool $lost): void
    {
        if ($this->state['ulid'] !== '') {
            $this->step(function (): void {
                $this->api->post("transactions/{$this->state['ulid']}/void", null, $this->reference('void'));
                $this->note(__('What the order earned was taken back.', 'loyalty-for-woocommerce'));
            }, __('What the order earned wasn’t taken back.', 'loyalty-for-woocommerce'), 'already-voided');
        }
        foreach ($lost ? array_keys(array_filter($this->state['vouchers'])) : [] as $ulid) {
            $this->step(function () use ($ulid): void {
                $this->api->post("vouchers/$ulid/restore", null, $this->reference("restore-$ulid"));
                /* translators: %s: a voucher's code */
                $this->note(sprintf(__('Voucher %s can be used again.', 'loyalty-for-woocommerce'), $ulid));
                /* translators: %s: a voucher's code */
            }, sprintf(__('Voucher %s stays redeemed.', 'loyalty-for-woocommerce'), $ulid));
        }
        $this->keep(['round' => $this->state['round'] + 1] + self::NEW);
    }

    /** Does a step. If Loyalty refuses it for good, a note says so, unless it was done before. */
    private function step(callable $do, string $refused, string $before = 'none'): bool
    {
        try {
            $do();
            return true;
        } catch (Problem $problem) {
            if (!$problem->isFinal()) {
                throw $problem;
            }
            if ($problem->rule !== $before) {
                $this->note($refused . ' ' . $problem->getMessage());
            }
            return $problem->rule === $before;
        }
    }

    /** Returns what names the order, or a step of it, in Loyalty. */
    private function reference(string $step = ''): string
    {
        $order = Settings::reference($this->order->get_id()) . ($this->state['round'] > 1 ? ".{$this->state['round']}" : '');
        return $step === '' ? $order : "$order-$step";
    }

    private function cents(string|float $amount): int
    {
        return Money::cents($amount, $this->order->get_currency());
    }

    /** Puts "12 points" or "1 stamp" into a sentence. */
    private static function count(?int $points, ?int $stamps, string $sentence): string
    {
        return sprintf($sentence, Account::count((int) ($points ?? $stamps), $points === null ? 'stamps' : 'points'));
    }

    private function note(string $text): void
    {
        $this->order->add_order_note('Loyalty: ' . wp_strip_all_tags($text));
    }

    private function keep(array $changes): void
    {
        $this->state = $changes + $this->state;
        $this->order->update_meta_data(self::META, $this->state);
        $this->order->save();
    }
}

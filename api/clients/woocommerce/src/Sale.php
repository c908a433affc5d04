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
        'tries' => 0, // that failed for now, one after the other
    ];

    private array $state;

    public function __construct(private readonly \WC_Order $order, private readonly Api $api)
    {
        $kept = $order->get_meta(self::META);
        $this->state = (is_array($kept) ? $kept : []) + self::NEW;
    }

    /** Returns cents, by the decimals of ISO 4217. Those that a shop shows may be fewer. */
    public static function cents(string|float $amount, string $currency): int
    {
        return (int) round((float) $amount * self::unit($currency));
    }

    /** Returns how many cents one of a currency has. */
    public static function unit(string $currency): int
    {
        return match (true) {
            str_contains('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF', $currency) => 1,
            str_contains('BHD IQD JOD KWD LYD OMR TND', $currency) => 1000,
            default => 100,
        };
    }

    /** Marks the order as paid. */
    public function pay(): void
    {
        $this->keep(['paid' => true, 'tries' => 0]);
    }

    /** Counts tries that failed for now. */
    public function fail(): int
    {
        $this->keep(['tries' => $this->state['tries'] + 1]);
        return $this->state['tries'];
    }

    /** Brings Loyalty in step with the order, once it was paid. It throws a problem that may be gone later. */
    public function run(): void
    {
        if (!$this->state['paid']) {
            return;
        }
        $refunded = (float) $this->order->get_total_refunded();
        $isLost = $this->order->has_status(['cancelled', 'failed']);
        $isOver = $isLost || $refunded > 0 && $refunded >= (float) $this->order->get_total();
        if ($this->state['ulid'] === '' && (!$isOver || $this->state['request'] !== '')) {
            $this->step($this->record(...), __('No points for this order.'));
        }
        if ($isOver) {
            $this->undo($isLost);
            return;
        }
        $this->redeemVouchers();
        if ($this->state['ulid'] !== '') {
            $this->recordRefunds();
        }
        $this->keep(['tries' => 0]);
    }

    /** Records the sale. */
    private function record(): void
    {
        if ($this->state['request'] === '') {
            $this->keep(['request' => $this->describe()]);
        }
        try {
            $sale = $this->api->post('transactions', $this->state['request'], $this->reference('-sale'));
        } catch (Problem $problem) {
            if ($problem->rule !== 'reference-taken') {
                $this->keep($problem->isFinal() ? ['request' => ''] : []);
                throw $problem;
            }
            $sale = $this->api->get('transactions/' . $problem->document['transaction_ulid']); // its response was lost
        }
        $this->keep(['ulid' => $sale['ulid']]);
        $this->note(sprintf(__('%s for this order.'), Account::count($sale['points_awarded'], $sale['stamps_awarded'])));
    }

    /** Describes the sale, of a customer who is found or added: one with an account by its number, a guest by e-mail. */
    private function describe(): string
    {
        if ($this->order->get_currency() !== get_option('woocommerce_currency')) {
            throw new Problem(422, __('It isn’t in the shop’s own currency.'), ['code' => '']);
        }
        $phone = trim($this->order->get_billing_phone());
        $account = $this->order->get_customer_id();
        $customer = $this->api->post('customers', self::json([
            'first_name' => mb_substr($this->order->get_billing_first_name(), 0, 100) ?: __('Guest'),
            'last_name' => mb_substr($this->order->get_billing_last_name(), 0, 100) ?: '–',
            'phone' => preg_match_all('/\d/', $phone) >= 3 && strlen($phone) <= 30 ? $phone : null,
            'email' => $this->order->get_billing_email() ?: null,
            'external_id' => $account > 0 ? Settings::reference($account) : null,
        ]), '');
        return self::json([
            'customer_ulid' => $customer['ulid'],
            'transaction_type_id' => (int) Settings::read('type'),
            'spend_amount_cents' => self::cents($this->order->get_total(), $this->order->get_currency()),
            'external_reference' => $this->reference(),
            'location_id' => (int) Settings::read('location') ?: null,
            'metadata' => ['order' => $this->order->get_order_number()],
        ]);
    }

    private static function json(array $fields): string
    {
        return (string) wp_json_encode(array_filter($fields, static fn (mixed $value): bool => $value !== null));
    }

    /** Records refunds of a part. */
    private function recordRefunds(): void
    {
        foreach ($this->order->get_refunds() as $refund) {
            $cents = self::cents($refund->get_amount(), $this->order->get_currency());
            if ($cents > 0 && !in_array($refund->get_id(), $this->state['refunds'], true)) {
                $reference = $this->reference('-refund-' . $refund->get_id());
                $this->step(function () use ($cents, $reference): void {
                    $body = self::json(['amount_cents' => $cents, 'external_reference' => $reference]);
                    $taken = $this->api->post("transactions/{$this->state['ulid']}/refunds", $body, $reference);
                    $this->note(sprintf(__('%s taken back.'), Account::count($taken['points_refunded'], $taken['stamps_refunded'])));
                }, __('A refund isn’t in Loyalty.'), 'reference-taken');
                $this->keep(['refunds' => [...$this->state['refunds'], $refund->get_id()]]);
            }
        }
    }

    /** Redeems the vouchers that the order was placed with. */
    private function redeemVouchers(): void
    {
        foreach (array_filter(array_map([Vouchers::class, 'ulid'], $this->order->get_coupon_codes())) as $ulid) {
            if (!isset($this->state['vouchers'][$ulid])) {
                $isRedeemed = $this->step(function () use ($ulid): void {
                    $this->redeem($ulid);
                    $this->note(sprintf(__('Voucher %s is redeemed.'), $ulid));
                }, sprintf(__('Voucher %s gave a discount, but couldn’t be redeemed.'), $ulid));
                $this->keep(['vouchers' => [$ulid => $isRedeemed] + $this->state['vouchers']]);
            }
        }
    }

    /** Redeems a voucher with the sale; without it if they are of different customers. */
    private function redeem(string $ulid): void
    {
        $sale = $this->state['ulid'] === '' ? null : self::json(['transaction_ulid' => $this->state['ulid']]);
        delete_transient("loyalty_voucher_$ulid");
        try {
            $this->api->post("coupons/$ulid/redeem", $sale, $this->reference("-redeem-$ulid"));
        } catch (Problem $problem) {
            if (!isset($problem->document['errors']['transaction_ulid'])) {
                throw $problem;
            }
            $this->api->post("coupons/$ulid/redeem", null, $this->reference("-redeem-$ulid"));
        }
    }

    /** Takes back what the order earned, and restores its vouchers if it is lost. */
    private function undo(bool $isLost): void
    {
        if ($this->state['ulid'] !== '') {
            $this->step(function (): void {
                $this->api->post("transactions/{$this->state['ulid']}/void", null, $this->reference('-void'));
                $this->note(__('What this order earned was taken back.'));
            }, __('What this order earned wasn’t taken back.'), 'already-voided');
        }
        foreach ($isLost ? array_keys(array_filter($this->state['vouchers'])) : [] as $ulid) {
            $this->step(function () use ($ulid): void {
                delete_transient("loyalty_voucher_$ulid");
                $this->api->post("vouchers/$ulid/restore", null, $this->reference("-restore-$ulid"));
                $this->note(sprintf(__('Voucher %s can be used again.'), $ulid));
            }, sprintf(__('Voucher %s stays redeemed.'), $ulid));
        }
        $this->keep(['round' => $this->state['round'] + 1] + self::NEW);
    }

    /** Does a step. If Loyalty refuses it for good, a note says so, unless it was done before. */
    private function step(callable $do, string $refused, string $before = 'none'): bool
    {
        try {
            $do();
        } catch (Problem $problem) {
            if (!$problem->isFinal()) {
                throw $problem;
            }
            if ($problem->rule !== $before) {
                $this->note("$refused {$problem->getMessage()}");
                return false;
            }
        }
        return true;
    }

    /** Returns what the order, or a step of it, is called in Loyalty. */
    private function reference(string $step = ''): string
    {
        $round = $this->state['round'] > 1 ? ".{$this->state['round']}" : '';
        return Settings::reference($this->order->get_id()) . $round . $step;
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

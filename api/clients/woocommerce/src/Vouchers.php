<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** Vouchers as coupon codes. They are checked in the cart and at the checkout, and redeemed when the order is paid. */
final class Vouchers
{
    public static function hook(): void
    {
        add_filter('woocommerce_coupon_code', [self::class, 'plain'], 20);
        add_filter('woocommerce_get_shop_coupon_data', [self::class, 'coupon'], 10, 2);
        add_filter('woocommerce_coupon_is_valid', [self::class, 'check'], 10, 2);
    }

    /** Returns the voucher that a code names: as typed, in groups, in either case; "" if it isn't a voucher's code. */
    public static function ulid(mixed $code): string
    {
        $plain = is_string($code) ? (string) preg_replace('/[\s\p{Pd}]+/u', '', $code) : '';
        $ulid = strtr(strtoupper($plain), 'OIL', '011');
        $isVoucher = preg_match('/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/', $ulid) === 1 && wc_get_coupon_id_by_code($plain) === 0;
        return $isVoucher ? $ulid : '';
    }

    /** Makes one code of all ways to type a voucher's, so that it can't be applied twice. */
    public static function plain(mixed $code): mixed
    {
        return strtolower(self::ulid($code)) ?: $code;
    }

    /** Describes a voucher as a coupon. One that can't be used is a coupon, too, so that check() says why. */
    public static function coupon(mixed $data, mixed $code): mixed
    {
        $ulid = self::ulid($code);
        if ($data !== false || $ulid === '' || Settings::all()['token'] === '') {
            return $data;
        }
        return self::find($ulid) + ['discount_type' => 'fixed_cart', 'amount' => 0];
    }

    /**
     * Refuses a voucher that can't be used.
     *
     * @throws \Exception with a sentence for the customer
     */
    public static function check(mixed $valid, \WC_Coupon $coupon): mixed
    {
        $ulid = $coupon->get_virtual() ? self::ulid($coupon->get_code()) : '';
        $refusal = $ulid === '' ? '' : (self::find($ulid)['description'] ?? '');
        if ($refusal !== '') {
            throw new \Exception(esc_html($refusal), 100); // E_WC_COUPON_INVALID_FILTERED
        }
        return $valid;
    }

    /**
     * Finds a voucher, and remembers it for a minute, because a cart asks several times a page.
     *
     * @return array<string, mixed> The type and the amount of its discount, or a description of why it can't be used.
     */
    private static function find(string $ulid): array
    {
        $kept = get_transient("loyalty_voucher_$ulid");
        if (is_array($kept)) {
            return $kept;
        }
        try {
            $found = self::discount(Settings::api()->get("vouchers/$ulid"));
        } catch (Problem $problem) {
            if ($problem->status !== 404) {
                return ['description' => __('This voucher can’t be checked right now. Try again in a few minutes.', 'loyalty-for-woocommerce')];
            }
            $found = ['description' => __('There’s no voucher with this code. Check what you typed.', 'loyalty-for-woocommerce')];
        }
        set_transient("loyalty_voucher_$ulid", $found, 60);
        return $found;
    }

    /** Says what a voucher takes off an order. */
    private static function discount(array $voucher): array
    {
        $benefit = $voucher['benefit'];
        if (!$voucher['redeemable']) {
            return ['description' => $voucher['not_redeemable']['detail']];
        }
        if ($benefit['type'] === 'percent') {
            return ['discount_type' => 'percent', 'amount' => $benefit['percent']];
        }
        if ($benefit['type'] === 'amount') {
            return self::off($benefit['amount_cents']);
        }
        if ($benefit['type'] !== 'reward') {
            /* translators: %s: a number of points or stamps */
            $words = __('This voucher adds %s to your balance. It isn’t a discount: show it in the shop to redeem it.', 'loyalty-for-woocommerce');
            return ['description' => sprintf($words, Account::count($benefit[$benefit['type']], $benefit['type']))];
        }
        $reward = Settings::api()->get('rewards/' . $benefit['reward_ulid']);
        /* translators: %s: the name of a reward */
        $words = __('This voucher is for %s. Show it in the shop to redeem it.', 'loyalty-for-woocommerce');
        return $reward['value_cents'] === null ? ['description' => sprintf($words, $reward['name'])] : self::off($reward['value_cents']);
    }

    private static function off(int $cents): array
    {
        return ['discount_type' => 'fixed_cart', 'amount' => Money::amount($cents, (string) get_option('woocommerce_currency'))];
    }
}

<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** Vouchers as coupon codes. They are checked in the cart and at the checkout, and redeemed when the order is paid. */
final class Vouchers
{
    public static function hook(): void
    {
        add_filter('woocommerce_coupon_code', static fn (string $code): string => strtolower(self::ulid($code)) ?: $code, 20);
        add_filter('woocommerce_get_shop_coupon_data', [self::class, 'coupon'], 10, 2);
        add_filter('woocommerce_coupon_is_valid', [self::class, 'check'], 10, 2);
    }

    /** Returns the voucher that a code names, typed in groups and in either case; "" if it isn't a voucher's. */
    public static function ulid(mixed $code): string
    {
        $plain = is_string($code) ? (string) preg_replace('/[\s\p{Pd}]+/u', '', $code) : '';
        $ulid = strtr(strtoupper($plain), 'OIL', '011');
        $isULID = preg_match('/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/D', $ulid) === 1;
        return $isULID && !wc_get_coupon_id_by_code($plain) ? $ulid : '';
    }

    /** Describes a voucher as a coupon. One that can't be used is a coupon, too, so that check() says why. */
    public static function coupon(mixed $data, mixed $code): mixed
    {
        $ulid = self::ulid($code);
        $api = Settings::api();
        return $data !== false || $ulid === '' || $api === null ? $data : self::find($api, $ulid);
    }

    /** Refuses a voucher that can't be used, with a sentence for the customer. */
    public static function check(mixed $valid, \WC_Coupon $coupon): mixed
    {
        $isVoucher = $coupon->get_virtual() && self::ulid($coupon->get_code()) !== '';
        if ($isVoucher && (float) $coupon->get_amount() <= 0) {
            throw new \Exception(esc_html($coupon->get_description()), 100); // E_WC_COUPON_INVALID_FILTERED
        }
        return $valid;
    }

    /** Finds a voucher, and remembers it for a minute, because a cart asks several times a page. */
    private static function find(Api $api, string $ulid): array
    {
        $found = get_transient("loyalty_voucher_$ulid");
        if (!is_array($found)) {
            try {
                $found = self::discount($api->get("vouchers/$ulid"));
            } catch (Problem $problem) {
                if ($problem->status !== 404) {
                    return self::refuse(__('This voucher can’t be checked right now. Try again in a few minutes.'));
                }
                $found = self::refuse(__('There’s no voucher with this code. Check what you entered.'));
            }
            set_transient("loyalty_voucher_$ulid", $found, 60);
        }
        return $found;
    }

    /** Says what a voucher takes off an order. */
    private static function discount(array $voucher): array
    {
        $benefit = $voucher['benefit'];
        $unit = Sale::unit(get_option('woocommerce_currency'));
        if (!$voucher['redeemable']) {
            return self::refuse($voucher['not_redeemable']['detail']);
        }
        return match ($benefit['type']) {
            'percent' => ['discount_type' => 'percent', 'amount' => $benefit['percent']],
            'amount' => ['discount_type' => 'fixed_cart', 'amount' => $benefit['amount_cents'] / $unit],
            'reward' => self::refuse(__('This voucher is for a reward, not a discount. Show it in the shop to redeem it.')),
            default => self::refuse(sprintf(
                __('This voucher adds %s to your balance and isn’t a discount. Show it in the shop to redeem it.'),
                Account::count($benefit['points'] ?? null, $benefit['stamps'] ?? null)
            )),
        };
    }

    private static function refuse(string $sentence): array
    {
        return ['discount_type' => 'fixed_cart', 'amount' => 0, 'description' => $sentence];
    }
}

<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** Amounts in the smallest unit of a currency, by ISO 4217. The decimals that a shop shows may be fewer. */
final class Money
{
    private const NONE = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF';
    private const THREE = 'BHD IQD JOD KWD LYD OMR TND';

    /** Returns an amount in cents. */
    public static function cents(string|float $amount, string $currency): int
    {
        return (int) round((float) $amount * 10 ** self::decimals($currency));
    }

    /** Returns cents as an amount. */
    public static function amount(int $cents, string $currency): string
    {
        return number_format($cents / 10 ** self::decimals($currency), self::decimals($currency), '.', '');
    }

    private static function decimals(string $currency): int
    {
        return match (true) {
            str_contains(self::NONE, $currency) => 0,
            str_contains(self::THREE, $currency) => 3,
            default => 2,
        };
    }
}

<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** The balance on the account page. */
final class Account
{
    public static function hook(): void
    {
        add_action('woocommerce_account_dashboard', [self::class, 'show']);
    }

    /** Shows the balance. Nothing is shown to customers whom Loyalty doesn't know, or while it can't be reached. */
    public static function show(): void
    {
        foreach (self::balance(get_current_user_id()) as $sentence) {
            printf('<p class="loyalty-balance">%s</p>', esc_html($sentence));
        }
    }

    /** Makes the next page read the balance again. */
    public static function forget(int $user): void
    {
        delete_transient("loyalty_balance_$user");
    }

    /**
     * Returns what a customer has, in sentences. They are remembered for five minutes: all pages share the token's limit.
     *
     * @return string[]
     */
    private static function balance(int $user): array
    {
        $kept = get_transient("loyalty_balance_$user");
        if (is_array($kept) || $user === 0 || Settings::all()['token'] === '') {
            return is_array($kept) ? $kept : [];
        }
        try {
            $found = Settings::api()->get('customers', 'external_id=' . rawurlencode(Settings::reference($user)));
        } catch (Problem) {
            return [];
        }
        $sentences = $found === [] ? [] : self::sentences($found[0]);
        set_transient("loyalty_balance_$user", $sentences, 300);
        return $sentences;
    }

    /** @return string[] */
    private static function sentences(array $customer): array
    {
        $sentences = [];
        foreach (['points', 'stamps'] as $unit) {
            $balance = $customer["{$unit}_balance"];
            $day = $customer["{$unit}_expire_on"];
            if ($balance !== 0 || $unit === 'points') {
                /* translators: %s: a number of points or stamps */
                $sentences[] = sprintf(__('You have %s.', 'loyalty-for-woocommerce'), self::count($balance, $unit));
            }
            if ($day !== null) {
                /* translators: 1: points or stamps, 2: a date */
                $words = __('The next %1$s end after %2$s.', 'loyalty-for-woocommerce');
                $sentences[] = sprintf($words, $unit, date_i18n((string) get_option('date_format'), (int) strtotime("$day UTC")));
            }
        }
        return $sentences;
    }

    /** Returns "12 points" or "1 stamp". */
    public static function count(int $count, string $unit): string
    {
        return sprintf($unit === 'points'
            ? _n('%s point', '%s points', $count, 'loyalty-for-woocommerce')
            : _n('%s stamp', '%s stamps', $count, 'loyalty-for-woocommerce'), number_format_i18n($count));
    }
}

<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** The balance on the account page. It is remembered for five minutes, because all pages share the token's limit. */
final class Account
{
    public static function hook(): void
    {
        add_action('woocommerce_account_dashboard', [self::class, 'show']);
    }

    /** Shows the balance. Nothing is shown to customers whom Loyalty doesn't know, or while it can't be reached. */
    public static function show(): void
    {
        $user = get_current_user_id();
        $sentences = get_transient("loyalty_balance_$user");
        try {
            if (!is_array($sentences)) {
                $found = Settings::api()?->get('customers?external_id=' . rawurlencode(Settings::reference($user)));
                $sentences = empty($found) ? [] : [...self::describe($found[0], 'points'), ...self::describe($found[0], 'stamps')];
                set_transient("loyalty_balance_$user", $sentences, 300);
            }
        } catch (Problem) {
            return;
        }
        echo $sentences === [] ? '' : '<p class="loyalty-balance">' . esc_html(implode(' ', $sentences)) . '</p>';
    }

    /** Makes the next page read the balance again. */
    public static function forget(int $user): void
    {
        delete_transient("loyalty_balance_$user");
    }

    /** Describes a balance, and when some of it ends next. */
    private static function describe(array $customer, string $unit): array
    {
        $balance = $customer["{$unit}_balance"];
        $day = $customer["{$unit}_expire_on"];
        $count = $unit === 'points' ? self::count($balance, null) : self::count(null, $balance);
        $date = date_i18n(get_option('date_format'), (int) strtotime("$day UTC"));
        return [
            ...($balance === 0 ? [] : [sprintf(__('You have %s.'), $count)]),
            ...($day === null ? [] : [sprintf(__('The next %1$s end after %2$s.'), $unit, $date)]),
        ];
    }

    /** Returns "12 points" or "1 stamp". */
    public static function count(?int $points, ?int $stamps): string
    {
        $words = $points === null ? _n('%s stamp', '%s stamps', (int) $stamps) : _n('%s point', '%s points', $points);
        return sprintf($words, number_format_i18n($points ?? (int) $stamps));
    }
}

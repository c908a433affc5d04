<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** The settings, and their page under WooCommerce → Loyalty. */
final class Settings
{
    public const OPTION = 'loyalty_settings';

    /** Why orders are waiting, if the token is the reason. */
    public const TROUBLE = 'loyalty_trouble';

    private const SCOPES = ['customers:read', 'customers:write', 'transactions:write', 'rewards:read', 'coupons:read'];

    public static function hook(): void
    {
        add_action('admin_menu', static function (): void {
            add_submenu_page('woocommerce', 'Loyalty', 'Loyalty', 'manage_woocommerce', 'loyalty', [self::class, 'page']);
        });
        add_action('admin_init', static function (): void {
            register_setting('loyalty', self::OPTION, ['type' => 'array', 'sanitize_callback' => [self::class, 'sanitize']]);
        });
        add_filter('option_page_capability_loyalty', static fn (): string => 'manage_woocommerce');
        add_action('admin_notices', [self::class, 'warn']);
    }

    /** @return array{address: string, token: string, type: int, location: int, prefix: string} */
    public static function all(): array
    {
        $kept = get_option(self::OPTION);
        return (is_array($kept) ? $kept : []) + ['address' => '', 'token' => '', 'type' => 0, 'location' => 0, 'prefix' => ''];
    }

    /** Returns the API as it is set up. */
    public static function api(bool $patient = false): Api
    {
        return new Api(self::all()['address'], self::all()['token'], $patient);
    }

    /** Returns what is sent as a reference or an ID of this site, which other shops of the business don't have. */
    public static function reference(int|string $id): string
    {
        return self::all()['prefix'] . '-' . $id;
    }

    /** Checks what was entered. An empty token keeps the old one, but for a new address: the token isn't its. */
    public static function sanitize(mixed $entered): array
    {
        $entered = is_array($entered) ? array_filter($entered, 'is_scalar') : [];
        $old = self::all();
        $address = Api::address(trim((string) ($entered['address'] ?? '')));
        $token = trim((string) ($entered['token'] ?? ''));
        if ($address === '') {
            self::refuse(__('Enter the address of Loyalty, beginning with https://.', 'loyalty-for-woocommerce'));
            $address = $old['address'];
        }
        if ($token === '') {
            $token = $address === $old['address'] ? $old['token'] : '';
        } elseif (!preg_match('/^\d+\|[\x21-\x7e]+$/', $token)) {
            self::refuse(__('That isn’t a token: it has a number, a line (|) and characters.', 'loyalty-for-woocommerce'));
            $token = '';
        }
        delete_transient(Api::DOWN);
        delete_option(self::TROUBLE);
        $site = (string) preg_replace(['~^https?://~', '/[^\x21-\x7e]/'], '', home_url());
        return [
            'address' => $address,
            'token' => $token,
            'type' => absint($entered['type'] ?? 0),
            'location' => absint($entered['location'] ?? 0),
            'prefix' => $old['prefix'] ?: substr($site, 0, 50), // it stays when the site moves
        ];
    }

    private static function refuse(string $message): void
    {
        add_settings_error(self::OPTION, 'loyalty', $message);
    }

    /** Tells the staff of the shop that orders are waiting. */
    public static function warn(): void
    {
        $trouble = get_option(self::TROUBLE);
        if ($trouble && current_user_can('manage_woocommerce')) {
            printf('<div class="notice notice-error"><p>%s</p></div>', esc_html(self::explain((string) $trouble)));
        }
    }

    private static function explain(string $reason): string
    {
        /* translators: %s: a sentence */
        $words = __('Orders are waiting to be sent to Loyalty. %s Check the token under WooCommerce → Loyalty.', 'loyalty-for-woocommerce');
        return sprintf($words, $reason);
    }

    public static function page(): void
    {
        if (!current_user_can('manage_woocommerce')) {
            return;
        }
        $kept = self::all();
        $types = $locations = [];
        $notice = '';
        if ($kept['token'] !== '') {
            try {
                $notice = self::missing($kept['token']);
                $types = self::api()->get('transaction-types', 'per_page=1000');
                $locations = self::api()->get('locations', 'per_page=1000');
            } catch (Problem $problem) {
                $notice = $notice ?: ($problem->status === 401
                    ? __('Loyalty doesn’t accept this token. Create one under API tokens in Loyalty’s panel, and enter it here.', 'loyalty-for-woocommerce')
                    : $problem->getMessage());
            }
        }
        require __DIR__ . '/page.php';
    }

    /** Says which scopes the token lacks; "" if it has all. */
    private static function missing(string $token): string
    {
        foreach (self::api()->get('tokens', 'per_page=1000') as $listed) {
            $lacks = array_diff(self::SCOPES, $listed['abilities']);
            if ((string) $listed['id'] === strtok($token, '|') && $lacks !== []) {
                /* translators: %s: scopes */
                return sprintf(__('The token lacks scopes: %s. Create another one with them.', 'loyalty-for-woocommerce'), implode(', ', $lacks));
            }
        }
        return '';
    }

    /** Prints the choices of a list. One that was chosen stays, even if it isn't in the list. */
    private static function options(array $list, int $chosen, string $none): void
    {
        $names = [0 => $none] + ($chosen === 0 ? [] : [$chosen => "#$chosen"]);
        foreach ($list as $item) {
            if ($item['active'] || $item['id'] === $chosen) {
                $names[$item['id']] = $item['name'];
            }
        }
        foreach ($names as $id => $name) {
            printf('<option value="%d"%s>%s</option>', $id, selected($id, $chosen, false), esc_html($name));
        }
    }
}

<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** The settings: WooCommerce → Settings → Integration → Loyalty. The token has an option of its own, and is never shown. */
final class Settings extends \WC_Integration
{
    private const OPTION = 'woocommerce_loyalty_settings';
    private const TOKEN = 'loyalty_token';
    private const PREFIX = 'loyalty_prefix';
    private const SCOPES = ['customers:read', 'customers:write', 'transactions:write', 'coupons:read'];

    public static function hook(): void
    {
        add_filter('woocommerce_integrations', static fn (array $integrations): array => [...$integrations, self::class]);
    }

    public function __construct()
    {
        $this->id = 'loyalty';
        $this->method_title = 'Loyalty';
        $this->method_description = __('Points or stamps for paid orders, and vouchers as coupon codes.');
        $kept = __('Leave empty to keep the saved one. It needs the scopes %s.');
        $this->form_fields = [
            'address' => ['title' => __('Address'), 'type' => 'text', 'placeholder' => 'https://loyalty.example'],
            'token' => ['title' => __('Token'), 'type' => 'password', 'description' => sprintf($kept, implode(', ', self::SCOPES))],
            'type' => ['title' => __('Transaction type'), 'type' => 'select', 'options' => ['' => __('None: orders aren’t sent')]],
            'location' => ['title' => __('Location'), 'type' => 'select', 'options' => ['' => __('No location')]],
        ];
        $this->init_settings();
        add_action('woocommerce_update_options_integration_loyalty', [$this, 'process_admin_options']);
    }

    /** Returns a setting; "" if it isn't set. */
    public static function read(string $name): string
    {
        return (string) (((array) get_option(self::OPTION))[$name] ?? '');
    }

    /** Returns the API; null before it is set up. */
    public static function api(bool $patient = false): ?Api
    {
        $token = (string) get_option(self::TOKEN);
        return $token === '' ? null : new Api(self::read('address'), $token, $patient);
    }

    /** Returns what an order or account of this site is called in Loyalty, where other shops have the same numbers. */
    public static function reference(int $id): string
    {
        return get_option(self::PREFIX) . "-$id";
    }

    /** Checks the address. The token isn't for another one. */
    public function validate_address_field(string $key, ?string $entered): string
    {
        $address = Api::address(trim((string) $entered));
        if ($address === '') {
            throw new \Exception(__('Enter the address of Loyalty, beginning with https://.'));
        }
        if ($address !== self::read('address')) {
            delete_option(self::TOKEN);
        }
        delete_transient(Api::DOWN);
        add_option(self::PREFIX, substr((string) preg_replace(['~^https?://~', '/[^\x21-\x7e]/'], '', home_url()), 0, 50));
        return $address;
    }

    /** Keeps the token, apart from the settings that the page shows. */
    public function validate_token_field(string $key, ?string $entered): string
    {
        $token = trim((string) $entered);
        if (preg_match('/^\d+\|[\x21-\x7e]+$/D', $token)) {
            update_option(self::TOKEN, $token, false);
        } elseif ($token !== '') {
            throw new \Exception(__('That isn’t a token: it has a number, a line (|) and characters.'));
        }
        return '';
    }

    /** Prints the page, with the choices that Loyalty has. */
    public function admin_options(): void
    {
        try {
            $this->addErrorIfScopesLack();
            $this->addChoices('type', 'transaction-types');
            $this->addChoices('location', 'locations');
        } catch (Problem $problem) {
            $this->add_error(match ($problem->status) {
                401 => __('Loyalty doesn’t accept this token. Create one under API tokens in Loyalty’s panel.'),
                403 => __('The transaction types and locations couldn’t be read with this token.'),
                default => $problem->getMessage(),
            });
        }
        $this->display_errors();
        parent::admin_options();
    }

    /** Reads a list. What was chosen stays, even if it isn't in the list. */
    private function addChoices(string $field, string $path): void
    {
        $chosen = self::read($field);
        $this->form_fields[$field]['options'] += $chosen === '' ? [] : [$chosen => "#$chosen"];
        foreach (self::api()?->get("$path?per_page=1000") ?? [] as $listed) {
            if ($listed['active'] || (string) $listed['id'] === $chosen) {
                $this->form_fields[$field]['options'][$listed['id']] = $listed['name'];
            }
        }
    }

    private function addErrorIfScopesLack(): void
    {
        foreach (self::api()?->get('tokens?per_page=1000') ?? [] as $listed) {
            $lacking = array_diff(self::SCOPES, $listed['abilities']);
            if ($lacking !== [] && str_starts_with(get_option(self::TOKEN), "{$listed['id']}|")) {
                $this->add_error(sprintf(__('The token lacks scopes: %s. Create another one with them.'), implode(', ', $lacking)));
            }
        }
    }
}

<?php

/**
 * What the plug-in uses of WordPress and WooCommerce, with their names, arguments and order of hooks. Orders, options and the queue are kept in memory. Requests are real ones, with curl.
 */

declare(strict_types=1);

const ABSPATH = '/';

/** What the site keeps. */
final class Site
{
    public static array $hooks = [];
    public static array $options = ['woocommerce_currency' => 'EUR', 'date_format' => 'j F Y'];
    public static array $transients = [];
    public static array $orders = [];
    public static array $notes = [];
    public static array $queue = [];
    public static array $coupons = [];
    public static int $user = 0;
    public static int $ahead = 0; // seconds that the clock was moved

    public static function now(): int
    {
        return time() + self::$ahead;
    }
}

function add_filter(string $hook, callable $do, int $priority = 10, int $arguments = 1): bool
{
    Site::$hooks[$hook][$priority][] = [$do, $arguments];
    return true;
}

function add_action(string $hook, callable $do, int $priority = 10, int $arguments = 1): bool
{
    return add_filter($hook, $do, $priority, $arguments);
}

function apply_filters(string $hook, mixed $value, mixed ...$more): mixed
{
    $priorities = Site::$hooks[$hook] ?? [];
    ksort($priorities);
    foreach (array_merge(...array_values($priorities)) as [$do, $arguments]) {
        $value = $do(...array_slice([$value, ...$more], 0, $arguments));
    }
    return $value;
}

function do_action(string $hook, mixed ...$arguments): void
{
    $priorities = Site::$hooks[$hook] ?? [];
    ksort($priorities);
    foreach (array_merge(...array_values($priorities)) as [$do, $accepted]) {
        $do(...array_slice($arguments, 0, $accepted));
    }
}

function get_option(string $name, mixed $default = false): mixed
{
    return Site::$options[$name] ?? $default;
}

function add_option(string $name, mixed $value): bool
{
    Site::$options += [$name => $value];
    return true;
}

function update_option(string $name, mixed $value, mixed $autoload = null): bool
{
    Site::$options[$name] = $value;
    return true;
}

function delete_option(string $name): bool
{
    unset(Site::$options[$name]);
    return true;
}

function set_transient(string $name, mixed $value, int $seconds): bool
{
    Site::$transients[$name] = [$value, Site::now() + $seconds];
    return true;
}

function get_transient(string $name): mixed
{
    [$value, $until] = Site::$transients[$name] ?? [false, 0];
    return $until > Site::now() ? $value : false;
}

function delete_transient(string $name): bool
{
    unset(Site::$transients[$name]);
    return true;
}

function __(string $text): string
{
    return $text;
}

function _n(string $one, string $many, int $count): string
{
    return $count === 1 ? $one : $many;
}

function esc_html(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES);
}

function wp_strip_all_tags(string $text): string
{
    return trim(strip_tags($text));
}

function number_format_i18n(float $number): string
{
    return number_format($number);
}

function date_i18n(string $format, int $time): string
{
    return gmdate($format, $time);
}

function wp_json_encode(mixed $value): string|false
{
    return json_encode($value);
}

function home_url(): string
{
    return 'https://shop.example/webshop';
}

function get_current_user_id(): int
{
    return Site::$user;
}

if (!function_exists('mb_substr')) {
    function mb_substr(string $text, int $start, int $length): string
    {
        return implode('', array_slice(preg_split('//u', $text, -1, PREG_SPLIT_NO_EMPTY), $start, $length));
    }
}

/** Requests */

final class WP_Error
{
    public function __construct(public readonly string $message)
    {
    }
}

function is_wp_error(mixed $value): bool
{
    return $value instanceof WP_Error;
}

function wp_remote_request(string $url, array $arguments): array|WP_Error
{
    if ($arguments['redirection'] !== 0) {
        return new WP_Error('The plug-in follows redirects.');
    }
    $headers = [];
    $curl = curl_init($url);
    curl_setopt_array($curl, [
        CURLOPT_HTTPHEADER => array_map(
            static fn (string $name, string $value): string => "$name: $value",
            array_keys($arguments['headers']),
            $arguments['headers']
        ),
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => $arguments['timeout'],
        CURLOPT_HEADERFUNCTION => static function (CurlHandle $curl, string $line) use (&$headers): int {
            [$name, $value] = explode(':', $line, 2) + [1 => ''];
            $headers[strtolower($name)] = trim($value);
            return strlen($line);
        },
    ]);
    if ($arguments['method'] === 'POST') { // without a body, curl says that it's a form, as in WordPress
        curl_setopt_array($curl, [CURLOPT_POST => true, CURLOPT_POSTFIELDS => $arguments['body'] ?? '']);
    }
    $body = curl_exec($curl);
    return $body === false
        ? new WP_Error(curl_error($curl))
        : ['code' => curl_getinfo($curl, CURLINFO_RESPONSE_CODE), 'headers' => $headers, 'body' => $body];
}

function wp_remote_retrieve_response_code(array $response): int
{
    return $response['code'];
}

function wp_remote_retrieve_body(array $response): string
{
    return $response['body'];
}

function wp_remote_retrieve_header(array $response, string $name): string
{
    return $response['headers'][$name] ?? '';
}

/** The queue */

function as_schedule_single_action(int $time, string $hook, array $arguments = [], string $group = ''): int
{
    Site::$queue[] = [$time, $hook, $arguments];
    return count(Site::$queue);
}

function as_unschedule_all_actions(string $hook): void
{
    Site::$queue = array_filter(Site::$queue, static fn (array $action): bool => $action[1] !== $hook);
}

/** Runs what was queued, as if its time had come. Returns the seconds after which the last one was due. */
function run_queue(): int
{
    $queue = Site::$queue;
    Site::$queue = [];
    $due = 0;
    foreach ($queue as [$time, $hook, $arguments]) {
        $due = $time - time();
        do_action($hook, ...$arguments);
    }
    return $due;
}

/** Settings: WC_Settings_API with WC_Integration. */

abstract class WC_Integration
{
    public $id = '';
    public $method_title = '';
    public $method_description = '';
    public $form_fields = [];
    public $settings = [];
    public $errors = [];

    public function init_settings()
    {
        $this->settings = get_option("woocommerce_{$this->id}_settings", []);
    }

    public function add_error($error)
    {
        $this->errors[] = $error;
    }

    public function display_errors()
    {
        foreach ($this->errors as $error) {
            echo '<div class="error">' . esc_html($error) . '</div>';
        }
        $this->errors = [];
    }

    public function admin_options()
    {
        foreach ($this->form_fields as $key => $field) {
            $value = (string) ($this->settings[$key] ?? '');
            echo "<label>{$field['title']}</label>";
            foreach ($field['options'] ?? [] as $option => $name) {
                echo '<option' . ((string) $option === $value ? ' selected' : '') . " value=\"$option\">" . esc_html($name) . '</option>';
            }
            echo isset($field['options']) ? '' : "<input name=\"$key\" value=\"" . esc_html($value) . '">';
        }
    }

    public function process_admin_options()
    {
        $this->init_settings();
        foreach ($this->form_fields as $key => $field) {
            $posted = $_POST["woocommerce_{$this->id}_$key"] ?? null;
            $check = "validate_{$key}_field";
            try {
                $this->settings[$key] = method_exists($this, $check) ? $this->$check($key, $posted) : (string) $posted;
            } catch (Exception $problem) {
                $this->add_error($problem->getMessage());
            }
        }
        return update_option("woocommerce_{$this->id}_settings", $this->settings, 'yes');
    }
}

/** Orders */

final class WC_Order_Refund
{
    public function __construct(private int $id, private string $amount)
    {
    }

    public function get_id(): int
    {
        return $this->id;
    }

    public function get_amount(): string
    {
        return $this->amount;
    }
}

class WC_Order
{
    public array $meta = [];
    public array $refunds = [];
    public string $status = 'pending';

    /** @param array<string, mixed> $data */
    public function __construct(private int $id, private array $data)
    {
    }

    /** Places an order, as a checkout does. */
    public static function place(array $data): self
    {
        $order = new self(count(Site::$orders) + 1042, $data);
        $order->save();
        return $order;
    }

    public function save(): int
    {
        Site::$orders[$this->id] = clone $this;
        return $this->id;
    }

    /** Changes the status of the kept order, which fires the hooks that WooCommerce fires. */
    public function update_status(string $status): void
    {
        $order = wc_get_order($this->id);
        $order->status = $status;
        $order->save();
        do_action("woocommerce_order_status_$status", $this->id, $order, ['from' => $this->status, 'to' => $status]);
        $this->status = $status;
    }

    public function add_order_note(string $note): int
    {
        Site::$notes[$this->id][] = $note;
        return count(Site::$notes[$this->id]);
    }

    public function get_id(): int
    {
        return $this->id;
    }

    public function get_order_number(): string
    {
        return "#$this->id";
    }

    public function get_meta(string $key): mixed
    {
        return $this->meta[$key] ?? '';
    }

    public function update_meta_data(string $key, mixed $value): void
    {
        $this->meta[$key] = $value;
    }

    public function has_status(string|array $status): bool
    {
        return in_array($this->status, (array) $status, true);
    }

    public function is_paid(): bool
    {
        return $this->has_status(['processing', 'completed']);
    }

    public function get_total(): string
    {
        return $this->data['total'];
    }

    public function get_total_refunded(): string
    {
        return (string) array_sum(array_map(static fn (WC_Order_Refund $refund): string => $refund->get_amount(), $this->refunds));
    }

    /** @return WC_Order_Refund[] */
    public function get_refunds(): array
    {
        return array_reverse($this->refunds);
    }

    public function get_currency(): string
    {
        return $this->data['currency'] ?? 'EUR';
    }

    public function get_customer_id(): int
    {
        return $this->data['customer'] ?? 0;
    }

    public function get_billing_first_name(): string
    {
        return $this->data['first_name'] ?? '';
    }

    public function get_billing_last_name(): string
    {
        return $this->data['last_name'] ?? '';
    }

    public function get_billing_phone(): string
    {
        return $this->data['phone'] ?? '';
    }

    public function get_billing_email(): string
    {
        return $this->data['email'] ?? '';
    }

    /** @return string[] */
    public function get_coupon_codes(): array
    {
        return $this->data['coupons'] ?? [];
    }
}

function wc_get_order(int $id): WC_Order|false
{
    return isset(Site::$orders[$id]) ? clone Site::$orders[$id] : false;
}

/** Refunds a part of an order, or what is left of it. */
function wc_create_refund(array $arguments): WC_Order_Refund
{
    $order = wc_get_order($arguments['order_id']);
    $refund = new WC_Order_Refund($order->get_id() * 10 + count($order->refunds), $arguments['amount']);
    $order->refunds[] = $refund;
    $order->save();
    if ((float) $order->get_total_refunded() >= (float) $order->get_total()) {
        $order->update_status('refunded');
    }
    do_action('woocommerce_order_refunded', $order->get_id(), $refund->get_id());
    return $refund;
}

/** Coupons */

add_filter('woocommerce_coupon_code', 'html_entity_decode');
add_filter('woocommerce_coupon_code', 'trim');
add_filter('woocommerce_coupon_code', 'strtolower');

function wc_get_coupon_id_by_code(string $code): int
{
    return Site::$coupons[strtolower($code)] ?? 0;
}

class WC_Coupon
{
    private array $data = ['discount_type' => 'fixed_cart', 'amount' => 0, 'description' => '', 'virtual' => false];

    public function __construct(private string $code)
    {
        $manual = apply_filters('woocommerce_get_shop_coupon_data', false, $code, $this);
        if ($manual) {
            $this->data = ['virtual' => true] + $manual + $this->data;
        }
    }

    public function get_code(): string
    {
        return $this->code;
    }

    public function get_virtual(): bool
    {
        return $this->data['virtual'];
    }

    public function get_discount_type(): string
    {
        return $this->data['discount_type'];
    }

    public function get_amount(): string
    {
        return (string) $this->data['amount'];
    }

    public function get_description(): string
    {
        return $this->data['description'];
    }
}

/** A cart: the coupons that were applied, and the sentences that the customer saw instead. */
final class Cart
{
    public array $applied = [];
    public array $notices = [];

    public function __construct(private float $subtotal)
    {
    }

    public function apply_coupon(string $entered): bool
    {
        $code = (string) apply_filters('woocommerce_coupon_code', $entered);
        $coupon = new WC_Coupon($code);
        try {
            if (!$coupon->get_virtual() && wc_get_coupon_id_by_code($code) === 0) {
                throw new Exception("Coupon \"$code\" does not exist!", 105);
            }
            if (!apply_filters('woocommerce_coupon_is_valid', true, $coupon, $this)) {
                throw new Exception('Coupon is not valid.', 100);
            }
            if (in_array($code, $this->applied, true)) {
                throw new Exception('Coupon code already applied!', 103);
            }
        } catch (Exception $problem) {
            $this->notices[] = $problem->getMessage();
            return false;
        }
        $this->applied[] = $code;
        return true;
    }

    public function get_total(): string
    {
        $total = $this->subtotal;
        foreach ($this->applied as $code) {
            $coupon = new WC_Coupon($code);
            $amount = (float) $coupon->get_amount();
            $total -= $coupon->get_discount_type() === 'percent' ? $this->subtotal * $amount / 100 : $amount;
        }
        return number_format(max(0, $total), 2, '.', '');
    }
}

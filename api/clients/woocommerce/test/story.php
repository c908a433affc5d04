<?php

/**
 * The plug-in in a shop, against a live server. It prints what isn't as it should be, and nothing else.
 *
 * LOYALTY_SHOP is JSON: the address; the tokens of a business that takes customers without a phone number (token,
 * weak: one without scopes), and of another that doesn't (other); a type and a location with their names; vouchers.
 * The first attempt to record a sale has no response; the next ones get 503, 429 with a date, and a redirect.
 */

declare(strict_types=1);

require __DIR__ . '/wordpress.php';
require dirname(__DIR__) . '/loyalty.php';

do_action('before_woocommerce_init');
do_action('plugins_loaded');

$shop = json_decode((string) getenv('LOYALTY_SHOP'), true);
$integrations = apply_filters('woocommerce_integrations', []);
$settings = new $integrations[0]();

/** Compares, and says what differs. */
function check(string $what, mixed $got, mixed $want): void
{
    if ($got !== $want) {
        echo "$what:\n  got  ", json_encode($got, JSON_UNESCAPED_UNICODE), "\n  want ", json_encode($want, JSON_UNESCAPED_UNICODE), "\n";
    }
}

/** Saves the settings page. */
function enter(array $fields): void
{
    global $settings;
    $_POST = [];
    foreach ($fields as $name => $value) {
        $_POST["woocommerce_loyalty_$name"] = $value;
    }
    do_action('woocommerce_update_options_integration_loyalty');
}

/** Opens the settings page. */
function page(): string
{
    global $integrations;
    $settings = new $integrations[0]();
    ob_start();
    $settings->admin_options();
    return (string) ob_get_clean();
}

function dashboard(int $user): string
{
    Site::$user = $user;
    ob_start();
    do_action('woocommerce_account_dashboard');
    return strip_tags((string) ob_get_clean());
}

/** Reads a record from Loyalty. */
function read(string $path): array
{
    return Loyalty\WooCommerce\Settings::api(true)->get($path);
}

/** Takes the notes of an order. */
function notes(WC_Order $order): array
{
    $notes = Site::$notes[$order->get_id()] ?? [];
    Site::$notes[$order->get_id()] = [];
    return $notes;
}

function state(WC_Order $order): array
{
    return wc_get_order($order->get_id())->get_meta('_loyalty');
}

function sale(WC_Order $order): array
{
    return read('transactions/' . state($order)['ulid']);
}

function balance(string $email): int
{
    return read('customers?email=' . rawurlencode($email))[0]['points_balance'];
}

/** Places an order and pays it. */
function paid(array $data): WC_Order
{
    $order = WC_Order::place($data + ['first_name' => 'Gunnel', 'last_name' => 'Guest', 'total' => '12.50']);
    $order->update_status('processing');
    return $order;
}

$entered = ['address' => $shop['address'] . '/api/v1/', 'token' => '', 'type' => '', 'location' => ''];

// The settings: an address that isn't one, a token that isn't one, a wrong one, one without scopes.
enter(['address' => 'http://loyalty.example', 'token' => 'secret'] + $entered);
check('refused settings', $settings->errors, [
    'Enter the address of Loyalty, beginning with https://.', 'That isn’t a token: it has a number, a line (|) and characters.',
]);
enter(['token' => '1|wrong'] + $entered);
check('a wrong token', str_contains(page(), 'Loyalty doesn’t accept this token.'), true);
enter(['token' => $shop['weak']] + $entered);
check('a token without scopes', str_contains(page(), 'lacks scopes: customers:write, transactions:write, coupons:read.'), true);
enter(['token' => $shop['token']] + $entered);
$shown = page();
foreach ($shop['choices'] as $id => $name) {
    check("the choice $name", str_contains($shown, "value=\"$id\">" . esc_html($name) . '<'), true);
}
check('a secret on the page', str_contains($shown, explode('|', $shop['token'])[1]), false);
check('errors on the page', str_contains($shown, 'class="error"'), false);
enter(['type' => $shop['type'], 'location' => $shop['location']] + $entered);
check('a secret in the settings', str_contains(json_encode(get_option('woocommerce_loyalty_settings')), '|'), false);
check('the chosen type', str_contains(page(), "selected value=\"{$shop['type']}\""), true);

// A guest pays. The response is lost, and the checkout goes on; then the queue gets 503 and 429, and repeats. It doesn't
// follow a redirect, but tries again later.
$first = paid(['email' => 'gunnel@shop.example']);
check('notes of a lost response', notes($first), ['Loyalty: Loyalty can’t be reached. This order is sent again automatically.']);
check('the queue', [count(Site::$queue), state($first)['ulid']], [1, '']);
check('a minute before the next try', in_array(run_queue(), [59, 60], true), true);
check('the queue after a redirect', [count(Site::$queue), notes($first)], [1, []]);
check('two minutes before the next try', in_array(run_queue(), [119, 120], true), true);
check('notes of a guest', notes($first), ['Loyalty: 12 points for this order.']);
$sale = sale($first);
check('the sale', [$sale['spend_amount_cents'], $sale['external_reference'], (string) $sale['location_id'], $sale['metadata']], [
    1250, 'shop.example/webshop-' . $first->get_id(), $shop['location'], ['order' => $first->get_order_number()],
]);
check('points of a guest', balance('gunnel@shop.example'), 12);

// The same event again, and the next one: once.
do_action('woocommerce_order_status_processing', $first->get_id(), $first, []);
$first->update_status('completed');
check('notes of the same order', notes($first), []);
check('points of the same order', balance('gunnel@shop.example'), 12);

// An account is found by its number, with another e-mail address.
paid(['customer' => 7, 'email' => 'olle@shop.example', 'phone' => '08-465 700 07', 'first_name' => 'Olle', 'total' => '100.00']);
check('the account page', dashboard(7), 'You have 100 points.' . expiry(7));
paid(['customer' => 7, 'email' => 'olle@elsewhere.example', 'first_name' => 'Olle', 'total' => '1000.00']);
check('the account page after another order', dashboard(7), 'You have 1,100 points.' . expiry(7));
check('the account page of a stranger', dashboard(8), '');

/** Says on which day points end. */
function expiry(int $user): string
{
    $day = read('customers?external_id=' . rawurlencode("shop.example/webshop-$user"))[0]['points_expire_on'];
    return ' The next points end after ' . gmdate('j F Y', strtotime("$day UTC")) . '.';
}

// Refunds of parts, each once; then of the rest.
$order = paid(['email' => 'ragna@shop.example', 'total' => '40.00']);
wc_create_refund(['order_id' => $order->get_id(), 'amount' => '10.00']);
do_action('woocommerce_order_refunded', $order->get_id(), 0);
wc_create_refund(['order_id' => $order->get_id(), 'amount' => '5.50']);
check('notes of refunds', notes($order), ['Loyalty: 40 points for this order.', 'Loyalty: 10 points taken back.', notesOfRounding($order)]);
check('a sale with refunds', [sale($order)['status'], sale($order)['refunded_cents']], ['completed', 1550]);
$ulid = state($order)['ulid'];
wc_create_refund(['order_id' => $order->get_id(), 'amount' => '24.50']);
check('notes of a full refund', notes($order), ['Loyalty: What this order earned was taken back.']);
check('a sale that was refunded', [read("transactions/$ulid")['status'], balance('ragna@shop.example')], ['voided', 0]);

/** Names the points that a refund of 5.50 took: 5 or 6, by what the one before took. */
function notesOfRounding(WC_Order $order): string
{
    return 'Loyalty: ' . (sale($order)['points_refunded'] - 10) . ' points taken back.';
}

// Cancelled after it was paid, twice; and paid again.
$order = paid(['email' => 'cecilia@shop.example', 'total' => '20.00']);
$order->update_status('cancelled');
$order->update_status('cancelled');
check('notes of a cancelled order', notes($order), ['Loyalty: 20 points for this order.', 'Loyalty: What this order earned was taken back.']);
check('points of a cancelled order', balance('cecilia@shop.example'), 0);
$order->update_status('processing');
check('points of an order that was paid again', [balance('cecilia@shop.example'), sale($order)['external_reference']], [
    20, 'shop.example/webshop-' . $order->get_id() . '.2',
]);

// One that was never paid.
$order = WC_Order::place(['email' => 'nils@shop.example', 'total' => '20.00']);
$order->update_status('failed');
check('notes of an order that was never paid', notes($order), []);

// An order in another currency.
$order = paid(['email' => 'gunnel@shop.example', 'currency' => 'USD']);
check('notes of another currency', notes($order), ['Loyalty: No points for this order. It isn’t in the shop’s own currency.']);

// A voucher, in groups and lower case: applied once, redeemed with the sale, restored when the payment fails.
$percent = $shop['vouchers']['percent'];
$cart = new Cart(50);
check('a voucher', [$cart->apply_coupon(' ' . strtolower(implode(' ', str_split($percent, 4)))), $cart->get_total()], [true, '40.00']);
check('the same voucher, typed differently', [$cart->apply_coupon($percent), $cart->notices], [false, ['Coupon code already applied!']]);
check('a voucher before it is paid', read("vouchers/$percent")['status'], 'pending');
$order = paid(['email' => 'vera@shop.example', 'total' => $cart->get_total(), 'coupons' => $cart->applied]);
check('notes of a voucher', notes($order), ['Loyalty: 40 points for this order.', "Loyalty: Voucher $percent is redeemed."]);
check('a redeemed voucher', read("vouchers/$percent")['status'], 'redeemed');
$cart = new Cart(50);
check('a redeemed voucher again', [$cart->apply_coupon($percent), $cart->notices], [false, ['This voucher has already been redeemed.']]);
$order->update_status('failed');
check('notes of a failed payment', notes($order), ['Loyalty: What this order earned was taken back.', "Loyalty: Voucher $percent can be used again."]);
check('a restored voucher', read("vouchers/$percent")['status'], 'pending');

// Of its own customer, a voucher names the sale.
$amount = $shop['vouchers']['amount'];
$cart = new Cart(50);
check('a voucher for an amount', [$cart->apply_coupon($amount), $cart->get_total()], [true, '45.50']);
$owner = read('customers/' . read("vouchers/$amount")['customer_ulid']);
$order = paid(['phone' => $owner['phone'], 'total' => $cart->get_total(), 'coupons' => $cart->applied]);
check('the sale of a voucher', read("vouchers/$amount")['transaction_ulid'], state($order)['ulid']);

// Vouchers that can't be used say why, and one's own coupons stay as they are.
$cart = new Cart(50);
Site::$coupons = ['01abcdefghjkmnpqrstvwxyz23' => 5];
foreach ([$shop['vouchers']['expired'], $shop['vouchers']['points'], $shop['vouchers']['reward'], '01ARZ3NDEKTSV4RRFFQ69G5FAV', 'welcome'] as $code) {
    $cart->apply_coupon($code);
}
check('the shop’s own coupon', $cart->apply_coupon('01ABCDEFGHJKMNPQRSTVWXYZ23'), true);
check('refused vouchers', $cart->notices, [
    'This voucher has expired.',
    'This voucher adds 5 points to your balance and isn’t a discount. Show it in the shop to redeem it.',
    'This voucher is for a reward, not a discount. Show it in the shop to redeem it.',
    'There’s no voucher with this code. Check what you entered.',
    'Coupon "welcome" does not exist!',
]);

// A voucher that was redeemed elsewhere meanwhile: the order has its discount, and the note says so.
$order = paid(['email' => 'vera@shop.example', 'total' => '10.00', 'coupons' => [strtolower($amount)]]);
check('notes of a voucher that was used', notes($order), [
    'Loyalty: 10 points for this order.',
    "Loyalty: Voucher $amount gave a discount, but couldn’t be redeemed. This voucher has already been redeemed.",
]);

// The server is down: the order goes on, no other page waits, and the queue does the work when it is back.
Site::$ahead += 600; // nothing is remembered
$address = Site::$options['woocommerce_loyalty_settings']['address'];
Site::$options['woocommerce_loyalty_settings']['address'] = 'https://127.0.0.1:1';
$order = paid(['email' => 'dora@shop.example', 'total' => '30.00']);
check('notes while the server is down', notes($order), ['Loyalty: Loyalty can’t be reached. This order is sent again automatically.']);
check('the account page while it is down', dashboard(7), '');
$cart = new Cart(50);
check('a voucher while it is down', [$cart->apply_coupon($percent), $cart->notices], [
    false, ['This voucher can’t be checked right now. Try again in a few minutes.'],
]);
wc_create_refund(['order_id' => $order->get_id(), 'amount' => '10.00']);
check('the queue while it is down', [count(Site::$queue), notes($order)], [2, []]);
Site::$options['woocommerce_loyalty_settings']['address'] = $address;
run_queue();
check('notes after it is back', notes($order), ['Loyalty: 30 points for this order.', 'Loyalty: 10 points taken back.']);
check('points after it is back', balance('dora@shop.example'), 20);

// A token that was revoked: the order waits, the page says so; a new one, and the order is sent.
Site::$options['loyalty_token'] = '1|revoked';
$order = paid(['email' => 'dora@shop.example', 'total' => '5.00']);
check('notes without a token', notes($order), ['Loyalty: Authentication required. This order is sent again automatically.']);
check('the page without a token', str_contains(page(), 'Loyalty doesn’t accept this token.'), true);
enter(['token' => $shop['token'], 'type' => $shop['type'], 'location' => $shop['location']] + $entered);
run_queue();
check('points after a new token', [balance('dora@shop.example'), Site::$queue], [25, []]);

// A business that doesn't take customers without a phone number: the note says so; with a phone number, it is sent again.
enter(['token' => $shop['other'], 'type' => $shop['other_type']] + $entered);
$order = paid(['email' => 'gunnel@shop.example']);
check('notes of a guest without a phone number', notes($order), ['Loyalty: No points for this order. The phone field is required.']);
check('the order actions', array_keys(apply_filters('woocommerce_order_actions', [])), ['loyalty_send']);
$order = paid(['email' => 'gunnel@shop.example', 'phone' => '08-465 700 08']);
do_action('woocommerce_order_action_loyalty_send', $order);
check('notes of a guest with a phone number', notes($order), ['Loyalty: 12 points for this order.']);

// Another address: the token isn't for it. Without the plug-in, nothing of it is left.
enter(['address' => 'https://elsewhere.example', 'type' => $shop['type']] + $entered);
check('the token at another address', get_option('loyalty_token'), false);
const WP_UNINSTALL_PLUGIN = 'loyalty-for-woocommerce/loyalty.php';
require dirname(__DIR__) . '/uninstall.php';
check('what is left', array_filter(array_keys(Site::$options), static fn (string $name): bool => str_contains($name, 'loyalty')), []);

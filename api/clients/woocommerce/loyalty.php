<?php

/**
 * Plugin Name: Loyalty for WooCommerce
 * Description: Points or stamps for paid orders, the balance on the account page, and vouchers as coupon codes.
 * Version: 1.0.0
 * Requires at least: 6.2
 * Requires PHP: 8.1
 * Requires Plugins: woocommerce
 * WC requires at least: 8.0
 * Text Domain: loyalty-for-woocommerce
 */

declare(strict_types=1);

namespace Loyalty\WooCommerce;

use Automattic\WooCommerce\Utilities\FeaturesUtil;

defined('ABSPATH') || exit;

foreach (['Problem', 'Api', 'Money', 'Settings', 'Sale', 'Orders', 'Vouchers', 'Account'] as $class) {
    require_once __DIR__ . "/src/$class.php";
}

add_action('before_woocommerce_init', static function (): void {
    if (class_exists(FeaturesUtil::class)) {
        FeaturesUtil::declare_compatibility('custom_order_tables', __FILE__, true);
        FeaturesUtil::declare_compatibility('cart_checkout_blocks', __FILE__, true);
    }
});

add_action('plugins_loaded', static function (): void {
    if (class_exists('WooCommerce')) {
        Settings::hook();
        Orders::hook();
        Vouchers::hook();
        Account::hook();
    }
});

<?php

/**
 * Plugin Name: Loyalty for WooCommerce
 * Description: Points or stamps for paid orders, the balance on the account page, and vouchers as coupon codes.
 * Version: 1.0.0
 * Requires at least: 6.2
 * Requires PHP: 8.1
 * Requires Plugins: woocommerce
 * WC requires at least: 8.0
 */

declare(strict_types=1);

defined('ABSPATH') || exit;

add_action('before_woocommerce_init', static function (): void {
    if (class_exists(\Automattic\WooCommerce\Utilities\FeaturesUtil::class)) {
        foreach (['custom_order_tables', 'cart_checkout_blocks'] as $feature) {
            \Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility($feature, __FILE__, true);
        }
    }
});

add_action('plugins_loaded', static function (): void {
    if (class_exists('WC_Integration')) {
        foreach (['Api', 'Settings', 'Sale', 'Orders', 'Vouchers', 'Account'] as $class) {
            require_once __DIR__ . "/src/$class.php";
        }
        foreach (['Settings', 'Orders', 'Vouchers', 'Account'] as $class) {
            "Loyalty\\WooCommerce\\$class"::hook();
        }
    }
});

<?php

declare(strict_types=1);

defined('WP_UNINSTALL_PLUGIN') || exit;

array_map('delete_option', ['woocommerce_loyalty_settings', 'loyalty_token', 'loyalty_prefix']);
if (function_exists('as_unschedule_all_actions')) {
    as_unschedule_all_actions('loyalty_sync_order');
}

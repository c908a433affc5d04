<?php

declare(strict_types=1);

defined('WP_UNINSTALL_PLUGIN') || exit;

delete_option('loyalty_settings');
delete_option('loyalty_trouble');
delete_transient('loyalty_down');
if (function_exists('as_unschedule_all_actions')) {
    as_unschedule_all_actions('loyalty_sync_order');
}

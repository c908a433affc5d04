<?php

/** The settings page. Settings::page() sets $kept, $types, $locations and $notice. */

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

$name = esc_attr(Settings::OPTION);
?>
<div class="wrap">
    <h1>Loyalty</h1>
    <?php settings_errors(Settings::OPTION); ?>
    <?php if ($notice !== '') : ?>
        <div class="notice notice-error inline"><p><?php echo esc_html($notice); ?></p></div>
    <?php endif; ?>
    <form action="options.php" method="post">
        <?php settings_fields('loyalty'); ?>
        <table class="form-table" role="presentation">
            <tr>
                <th><label for="loyalty-address"><?php esc_html_e('Address', 'loyalty-for-woocommerce'); ?></label></th>
                <td><input class="regular-text" type="url" id="loyalty-address" name="<?php echo $name; ?>[address]"
                    value="<?php echo esc_attr($kept['address']); ?>" placeholder="https://loyalty.example" required></td>
            </tr>
            <tr>
                <th><label for="loyalty-token"><?php esc_html_e('Token', 'loyalty-for-woocommerce'); ?></label></th>
                <td><input class="regular-text" type="password" id="loyalty-token" name="<?php echo $name; ?>[token]" autocomplete="off">
                    <p class="description"><?php echo $kept['token'] === ''
                        ? esc_html__('Save the address and the token, then choose the transaction type.', 'loyalty-for-woocommerce')
                        : esc_html__('Saved. Leave empty to keep it.', 'loyalty-for-woocommerce'); ?></p></td>
            </tr>
            <tr>
                <th><label for="loyalty-type"><?php esc_html_e('Transaction type', 'loyalty-for-woocommerce'); ?></label></th>
                <td><select id="loyalty-type" name="<?php echo $name; ?>[type]">
                    <?php self::options($types, $kept['type'], __('None: orders aren’t sent', 'loyalty-for-woocommerce')); ?>
                </select></td>
            </tr>
            <tr>
                <th><label for="loyalty-location"><?php esc_html_e('Location', 'loyalty-for-woocommerce'); ?></label></th>
                <td><select id="loyalty-location" name="<?php echo $name; ?>[location]">
                    <?php self::options($locations, $kept['location'], __('No location', 'loyalty-for-woocommerce')); ?>
                </select></td>
            </tr>
        </table>
        <?php submit_button(); ?>
    </form>
</div>

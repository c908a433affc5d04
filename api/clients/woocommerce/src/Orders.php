<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** Sends orders to Loyalty when they are paid, refunded or cancelled. What fails for now waits in a queue. */
final class Orders
{
    private const QUEUE = 'loyalty_sync_order';

    /** Tries within two and a half days: a minute apart at first, six hours at the end. */
    private const TRIES = 18;

    public static function hook(): void
    {
        foreach (['order_status_processing', 'order_status_completed'] as $event) {
            add_action("woocommerce_$event", static fn (int $id) => self::sync($id, true, false));
        }
        foreach (['order_status_failed', 'order_status_cancelled', 'order_refunded'] as $event) {
            add_action("woocommerce_$event", static fn (int $id) => self::sync($id, false, false));
        }
        add_action(self::QUEUE, static fn (int $id) => self::sync($id, false, true));
        add_filter('woocommerce_order_actions', static fn (array $all): array => $all + ['loyalty_send' => __('Send to Loyalty again')]);
        add_action('woocommerce_order_action_loyalty_send', static fn ($order) => self::sync($order->get_id(), $order->is_paid(), false));
    }

    /** Brings Loyalty in step with an order. The order goes on, whatever happens here. */
    private static function sync(int $id, bool $isPaid, bool $patient): void
    {
        $order = wc_get_order($id);
        $api = Settings::api($patient);
        if (!$order instanceof \WC_Order || $api === null || Settings::read('type') === '') {
            return;
        }
        $sale = new Sale($order, $api);
        try {
            if ($isPaid) {
                $sale->pay();
            }
            $sale->run();
            Account::forget($order->get_customer_id());
        } catch (\Throwable $problem) {
            self::queue($order, $sale->fail(), $problem);
        }
    }

    private static function queue(\WC_Order $order, int $tries, \Throwable $problem): void
    {
        if ($tries > self::TRIES) {
            $order->add_order_note(__('Loyalty: not sent, after many tries. Choose “Send to Loyalty again” in the order actions.'));
            return;
        }
        if ($tries === 1) {
            $reason = $problem instanceof Problem ? wp_strip_all_tags($problem->getMessage()) : '';
            $order->add_order_note('Loyalty: ' . trim($reason . ' ' . __('This order is sent again automatically.')));
        }
        $delay = max($problem->after ?? 0, min(6 * 3600, 60 * 2 ** ($tries - 1)));
        as_schedule_single_action(time() + $delay, self::QUEUE, [$order->get_id()], 'loyalty');
    }
}

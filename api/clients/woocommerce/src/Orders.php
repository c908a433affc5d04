<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** Sends orders to Loyalty when they are paid, refunded or cancelled. What fails for now waits in a queue. */
final class Orders
{
    private const QUEUE = 'loyalty_sync_order';

    /** Tries within about two and a half days: minutes apart at first, six hours at the end. */
    private const TRIES = 18;

    public static function hook(): void
    {
        foreach (['processing', 'completed'] as $status) {
            add_action("woocommerce_order_status_$status", static fn (int $id) => self::sync($id, true, false));
        }
        foreach (['order_status_failed', 'order_status_cancelled', 'order_refunded'] as $event) {
            add_action("woocommerce_$event", static fn (int $id) => self::sync($id, false, false));
        }
        add_action(self::QUEUE, static fn (int $id) => self::sync($id, false, true));
        add_filter('woocommerce_order_actions', static fn (array $actions): array => $actions + [
            'loyalty_send' => __('Send to Loyalty again', 'loyalty-for-woocommerce'),
        ]);
        add_action('woocommerce_order_action_loyalty_send', static fn (\WC_Order $order) => self::sync($order->get_id(), $order->is_paid(), false));
    }

    /** Brings Loyalty in step with an order. The order goes on, whatever happens here. */
    private static function sync(int $id, bool $paid, bool $patient): void
    {
        $order = wc_get_order($id);
        $settings = Settings::all();
        if (!$order instanceof \WC_Order || $settings['token'] === '' || $settings['type'] === 0) {
            return;
        }
        $sale = new Sale($order, Settings::api($patient));
        if ($paid) {
            $sale->pay();
        }
        if (!$sale->isPaid()) {
            return;
        }
        try {
            $sale->run();
            delete_option(Settings::TROUBLE);
            Account::forget($order->get_customer_id());
        } catch (\Throwable $problem) {
            self::wait($order, $sale->fail(), $problem);
        }
    }

    /** Queues an order whose work failed for now. */
    private static function wait(\WC_Order $order, int $tries, \Throwable $problem): void
    {
        $after = 0;
        $reason = __('It can’t be sent right now.', 'loyalty-for-woocommerce');
        if ($problem instanceof Problem) {
            $after = $problem->after;
            $reason = $problem->getMessage();
            if ($problem->isToken()) {
                update_option(Settings::TROUBLE, $reason);
            }
        } else {
            wc_get_logger()->error($problem->getMessage(), ['source' => 'loyalty-for-woocommerce']);
        }
        if ($tries > self::TRIES) {
            $order->add_order_note('Loyalty: ' . __('Not sent, after many tries. Choose “Send to Loyalty again” in the order actions.', 'loyalty-for-woocommerce'));
            return;
        }
        if ($tries === 1) {
            $order->add_order_note('Loyalty: ' . wp_strip_all_tags($reason) . ' ' . __('This order is sent again automatically.', 'loyalty-for-woocommerce'));
        }
        $delay = max($after, min(6 * 3600, 60 * 2 ** ($tries - 1)));
        as_schedule_single_action(time() + $delay, self::QUEUE, [$order->get_id()], 'loyalty');
    }
}

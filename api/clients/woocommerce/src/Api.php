<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** Sends requests to Loyalty's API: over https only, to one address, without following redirects. */
final class Api
{
    /** Seconds before each retry. */
    private const WAITS = [1, 2, 4, 8];

    /** Seconds of Retry-After that a request waits at most. The queue of orders waits longer. */
    private const LONGEST = 20;

    /** Set while Loyalty can't be reached, so that no other page waits for it. */
    public const DOWN = 'loyalty_down';

    /**
     * @param bool $patient Retries and waits. Otherwise there is one short attempt, for pages that people wait for.
     */
    public function __construct(
        private readonly string $address,
        #[\SensitiveParameter] private readonly string $token,
        private readonly bool $patient = false
    ) {
    }

    /** Returns an address as entered, with or without /api/v1, without it; "" if it isn't an https:// address. */
    public static function address(string $entered): string
    {
        $parts = parse_url($entered);
        if (preg_match('/[^\x21-\x7e]|[?#@]/', $entered) || strtolower($parts['scheme'] ?? '') !== 'https' || empty($parts['host'])) {
            return '';
        }
        return (string) preg_replace('~(/api/v1)?/*$~i', '', $entered);
    }

    /**
     * Reads a record or a list.
     *
     * @return array<mixed>
     * @throws Problem
     */
    public function get(string $path, string $query = ''): array
    {
        return $this->send('GET', $path . ($query === '' ? '' : "?$query"), null, '');
    }

    /**
     * Sends a POST. Only finding or adding a customer is safe to repeat without a key.
     *
     * @param array<string, mixed>|string|null $body JSON, or what is written as JSON.
     * @return array<string, mixed>
     * @throws Problem
     */
    public function post(string $path, array|string|null $body, string $key): array
    {
        return $this->send('POST', $path, is_array($body) ? (string) wp_json_encode($body) : $body, $key);
    }

    /** Sends a request, and repeats it while that can help. */
    private function send(string $method, string $path, ?string $body, string $key): array
    {
        if (!$this->patient && get_transient(self::DOWN)) {
            throw new Problem(0, __('Loyalty can’t be reached.', 'loyalty-for-woocommerce'));
        }
        foreach ($this->patient ? [...self::WAITS, null] : [null] as $wait) {
            try {
                return $this->attempt($method, $path, $body, $key);
            } catch (Problem $problem) {
                if ($wait === null || !$problem->isBrief() || $problem->after > self::LONGEST) {
                    break;
                }
            }
            usleep((int) (max($wait, $problem->after) * random_int(1_100_000, 1_200_000)));
        }
        if ($problem->status === 0 || $problem->status >= 500) {
            set_transient(self::DOWN, 1, 30);
        }
        throw $problem;
    }

    /** Sends a request once, and returns the data of its response. */
    private function attempt(string $method, string $path, ?string $body, string $key): array
    {
        $response = wp_remote_request("$this->address/api/v1/$path", [
            'method' => $method,
            'timeout' => $this->patient ? 15 : 5,
            'redirection' => 0,
            'user-agent' => 'Loyalty-for-WooCommerce/1.0.0',
            'headers' => [
                'Authorization' => 'Bearer ' . $this->token,
                'Accept' => 'application/json',
                'Prefer' => 'handling=strict',
            ] + ($body === null ? [] : ['Content-Type' => 'application/json']) + ($key === '' ? [] : ['Idempotency-Key' => $key]),
            'body' => $body,
        ]);
        if (is_wp_error($response)) {
            throw new Problem(0, __('Loyalty can’t be reached.', 'loyalty-for-woocommerce'));
        }
        $status = (int) wp_remote_retrieve_response_code($response);
        $document = json_decode(wp_remote_retrieve_body($response), true);
        if ($status >= 200 && $status < 300 && is_array($document['data'] ?? null)) {
            delete_transient(self::DOWN);
            return $document['data'];
        }
        if ($status < 400 || !is_string($document['detail'] ?? null)) { // a proxy in between responded
            /* translators: %d: an HTTP status */
            $message = sprintf(__('The response isn’t Loyalty’s (HTTP status %d). Check the address.', 'loyalty-for-woocommerce'), $status);
            throw new Problem($status, $message, null, self::secondsAsked($response));
        }
        throw new Problem($status, self::sentence($document), $document, self::secondsAsked($response));
    }

    /** Says why a request was refused, in the API's words: of a field, if it was one. */
    private static function sentence(array $document): string
    {
        $errors = is_array($document['errors'] ?? null) ? array_merge(...array_values($document['errors'])) : [];
        return implode(' ', array_filter($errors, 'is_string')) ?: $document['detail'];
    }

    /** Reads Retry-After, which has seconds, or from a proxy a date: by the server's own clock, if it tells. */
    private static function secondsAsked(mixed $response): int
    {
        $header = static fn (string $name): string => trim((string) (((array) wp_remote_retrieve_header($response, $name))[0] ?? ''));
        $after = $header('retry-after');
        $seconds = ctype_digit($after) ? (float) $after : (strtotime($after) ?: 0) - (strtotime($header('date')) ?: time());
        return (int) max(0, min($seconds, 3600));
    }
}

<?php
// Records a sale. Run it twice: the receipt is recorded once.
const API = 'https://localhost:8443/api/v1';
const LONGEST = 120; // seconds of Retry-After

class Problem extends Exception
{
    public function __construct(public readonly array $document)
    {
        parent::__construct($document['detail']);
    }
}

/** Sends a request, and repeats it with the same key while that can help. */
function post(string $path, array $body, ?string $key = null): array
{
    $headers = [
        'Authorization: Bearer ' . getenv('LOYALTY_TOKEN'),
        'Content-Type: application/json',
    ];
    if ($key !== null) {
        $headers[] = "Idempotency-Key: $key";
    }
    foreach ([1, 2, 4, 8, null] as $wait) {
        $asked = 0;
        $curl = curl_init(API . $path);
        curl_setopt_array($curl, [
            CURLOPT_POSTFIELDS => json_encode($body),
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => 10,
            CURLOPT_HEADERFUNCTION => function ($curl, $line) use (&$asked) {
                if (stripos($line, 'Retry-After:') === 0) {
                    $asked = secondsAsked(trim(substr($line, 12)));
                }
                return strlen($line);
            },
        ]);
        $content = curl_exec($curl);
        // 0: no response, so the sale may have been recorded.
        $status = $content === false ? 0 : curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if ($status >= 200 && $status < 300) {
            return json_decode($content, true)['data'];
        }
        if ($status >= 400 && $status < 500 && $status !== 409 && $status !== 429) {
            $document = json_decode($content, true); // a proxy responds with a page
            throw new Problem((is_array($document) ? $document : []) + ['detail' => "HTTP status $status"]);
        }
        if ($wait !== null) {
            usleep((int) (max($wait, $asked) * random_int(1_100_000, 1_200_000)));
        }
    }
    throw new RuntimeException($status === 0 ? curl_error($curl) : "HTTP status $status");
}

/** Reads Retry-After, which has seconds, or from a proxy a date. */
function secondsAsked(string $after): int
{
    $seconds = ctype_digit($after) ? (float) $after : (strtotime($after) ?: 0) - time();
    return (int) min($seconds, LONGEST);
}

try {
    // Finds the customer by phone, or adds them.
    $customer = post('/customers', [
        'first_name' => 'Elsa', 'last_name' => 'Berg', 'phone' => '08-465 004 12',
    ]);
    // The key names this sale. Sent again with it, the sale is not recorded again.
    $sale = post('/transactions', [
        'customer_ulid' => $customer['ulid'],
        'transaction_type_id' => 1,
        'spend_amount_cents' => 1250,
    ], 'receipt-4711');
    echo "Recorded sale {$sale['ulid']}: {$sale['points_awarded']} points\n";
} catch (Problem $problem) {
    fwrite(STDERR, match ($problem->document['code'] ?? null) {
        'idempotency-key-reused' => "Receipt 4711 was recorded before, with other details.\n",
        default => json_encode($problem->document) . "\n",
    });
    exit(1);
}

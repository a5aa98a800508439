% Dormand and Prince, order 8 with error estimates of order 5 and 3 (Hairer, Norsett and Wanner, Solving ODEs I, II.5).
tg_c = [$nodes];
tg_a = $rows;
tg_b = $weights;
tg_e = [$error, ...
  $second_error];
